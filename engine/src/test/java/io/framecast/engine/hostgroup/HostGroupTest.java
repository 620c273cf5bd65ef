package io.framecast.engine.hostgroup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.LossReason;
import io.framecast.api.NodeConfig;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.api.spi.FifoNetwork;
import io.framecast.engine.auth.TestKeys;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.node.TestNode;
import io.framecast.engine.testing.FifoProvider;
import io.framecast.engine.testing.StreamFixture;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.CsvSource;

/// Subscribers of one host that receive a stream once. Each has a node of its own, as processes have. The
/// transport that channels name `verbs` is one of the tests', whose lanes take their slots in order of arrival.
@ParameterizedClass
@CsvSource({"udp, plain", "aeron, plain", "verbs, plain", "udp, unprotected", "udp, cipher", "verbs, auth"})
class HostGroupTest {
    private static final int FRAME_BYTES = 30_000;
    private static final long WAIT_NS = TimeUnit.SECONDS.toNanos(60);
    private static final Duration NAP = Duration.ofMillis(20);
    private static final double LOSS = 0.01;

    private final FifoNetwork network = new FifoNetwork(5, new FifoNetwork.Faults(LOSS, LOSS, LOSS));
    private final String transport;
    private final Channel channel;
    private final List<Framecast> nodes = new ArrayList<>();
    private final List<Taker> takers = new ArrayList<>();
    private final Arena arena = Arena.ofShared();

    /// One subscriber, with a thread that takes its frames and checks them.
    private final class Taker {
        private final Subscriber subscriber;
        private final Thread thread;
        private final AtomicLong frames = new AtomicLong();
        private final AtomicLong missed = new AtomicLong();
        private volatile boolean stopped;
        // Read when the thread has ended.
        private String wrong = "";
        private long next;

        // Only polls: it sleeps by itself.
        private final boolean spins;

        Taker(final boolean spins) {
            this.spins = spins;
            final Framecast node = launch();
            subscriber = node.subscribe(channel);
            subscriber.onLoss((first, count, reason) -> {
                wrong += reason == LossReason.NOT_A_MEMBER && first == next ? "" : "lost " + first + " for " + reason;
                next = first + count;
                missed.addAndGet(count);
            });
            thread = Thread.ofPlatform().start(this::take);
        }

        private void take() {
            while (!stopped) {
                final DeviceFrame frame = subscriber.poll();
                if (frame != null) {
                    check(frame);
                    frame.close();
                } else if (!(spins ? nap() : subscriber.awaitFrame(NAP)) && isOver()) {
                    return;
                }
            }
        }

        private boolean nap() {
            LockSupport.parkNanos(100_000);
            return false;
        }

        private boolean isOver() {
            final Subscriber.State state = subscriber.state();
            return state != Subscriber.State.JOINING && state != Subscriber.State.READY;
        }

        private void check(final DeviceFrame frame) {
            if (frame.frameId() != next && frames.get() > 0) {
                wrong += "frame " + frame.frameId() + " instead of " + next + "; ";
            }
            next = frame.frameId() + 1;
            if (frame.region().host().mismatch(content(frame.frameId())) >= 0) {
                wrong += "content of frame " + frame.frameId() + "; ";
            }
            frames.incrementAndGet();
        }

        void leave() throws InterruptedException {
            stopped = true;
            thread.join();
            subscriber.close();
        }

        void finish() throws InterruptedException {
            thread.join(TimeUnit.NANOSECONDS.toMillis(WAIT_NS));
            assertEquals("", wrong);
            assertEquals(Subscriber.State.END_OF_STREAM, subscriber.state());
        }
    }

    HostGroupTest(final String transport, final String seal) {
        this.transport = transport;
        channel = StreamFixture.channel(
                transport,
                "|window=300k|frame-max=100000|device=host|host-group=test|alive-timeout=20000"
                        + (transport.equals("udp") ? "|mtu=1500" : "")
                        + TestKeys.options(seal));
    }

    private Framecast launch() {
        final Framecast node = transport.equals("verbs")
                ? TestNode.launch(NodeConfig.DEFAULT, new FifoProvider(network))
                : Framecast.launch();
        nodes.add(node);
        return node;
    }

    @BeforeEach
    void requireLinux() {
        assumeTrue(Linux.isPresent(), () -> Linux.unavailable().orElse(""));
    }

    @AfterEach
    void close() {
        nodes.forEach(Framecast::close);
        arena.close();
    }

    private static MemorySegment content(final long frameId) {
        final byte[] bytes = new byte[FRAME_BYTES];
        for (int i = 0; i < bytes.length; i += 101) {
            bytes[i] = (byte) (31 * frameId + i);
        }
        return MemorySegment.ofArray(bytes);
    }

    private Publisher publisher() {
        final Framecast node = launch();
        // Not of this host, as far as its subscribers know.
        return node.publish(Channel.parse(channel.toString().replace("|host-group=test", "")));
    }

    private Taker taker() {
        return taker(false);
    }

    private Taker taker(final boolean spins) {
        final Taker taker = new Taker(spins);
        takers.add(taker);
        return taker;
    }

    private void publish(final Publisher publisher, final long first, final int count) throws InterruptedException {
        final MemorySegment memory = arena.allocate(FRAME_BYTES);
        for (long id = first; id < first + count; id++) {
            MemorySegment.copy(content(id), 0, memory, 0, FRAME_BYTES);
            final long startNs = System.nanoTime();
            while (publisher.offer(memory, FrameOptions.DEFAULT) < 0) {
                assertTrue(System.nanoTime() - startNs < WAIT_NS, "frame " + id + " finds room");
                Thread.sleep(1);
            }
        }
    }

    private void await(final java.util.function.BooleanSupplier condition, final String what)
            throws InterruptedException {
        final long startNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - startNs < WAIT_NS, () -> "waited in vain: " + what);
            Thread.sleep(5);
        }
    }

    @Test
    void shouldGiveEveryFrameToAllThroughOneMembership() throws Exception {
        final Publisher publisher = publisher();
        for (int i = 0; i < 3; i++) {
            taker();
        }
        await(() -> takers.stream().allMatch(taker -> taker.subscriber.state() == Subscriber.State.READY), "ready");
        await(() -> publisher.readySubscribers() == 3, "the source hears of all three");
        assertEquals(1, publisher.stats().members().size());
        // Some times around the ring.
        publish(publisher, 0, 150);
        assertTrue(publisher.close(Duration.ofSeconds(30)));
        for (final Taker taker : takers) {
            taker.finish();
            assertEquals(150, taker.frames.get());
            assertEquals(0, taker.missed.get());
        }
    }

    @Test
    void shouldLeadAnewWhenTheLeaderLeaves() throws Exception {
        final Publisher publisher = publisher();
        final Taker leader = taker();
        await(() -> leader.subscriber.state() == Subscriber.State.READY, "leader");
        taker(true);
        taker();
        await(() -> takers.stream().allMatch(taker -> taker.subscriber.state() == Subscriber.State.READY), "ready");
        publish(publisher, 0, 50);
        await(() -> takers.stream().allMatch(taker -> taker.frames.get() == 50), "50 frames");
        leader.leave();
        publish(publisher, 50, 50);
        assertTrue(publisher.close(Duration.ofSeconds(30)));
        for (final Taker taker : takers.subList(1, 3)) {
            taker.finish();
            assertEquals(0, taker.missed.get());
            assertEquals(100, taker.frames.get());
        }
        // One membership went from hand to hand.
        assertEquals(0, publisher.stats().evictions().size());
    }

    @Test
    void shouldLoseNothingWhenOneLeaderAfterTheOtherLeavesUnderLoad() throws Exception {
        final Publisher publisher = publisher();
        for (int i = 0; i < 5; i++) {
            final Taker taker = taker(i % 2 == 0);
            await(() -> taker.subscriber.state() == Subscriber.State.READY, "ready");
        }
        final AtomicBoolean leaving = new AtomicBoolean(true);
        final AtomicLong published = new AtomicLong();
        final Thread source = Thread.ofPlatform().start(() -> {
            try {
                while (leaving.get()) {
                    publish(publisher, published.getAndAdd(10), 10);
                }
            } catch (final InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        for (int i = 0; i < 4; i++) {
            final long before = takers.get(4).frames.get();
            final int leader = i;
            await(() -> takers.get(4).frames.get() > before + 50, "frames behind leader " + leader);
            takers.get(i).leave();
        }
        leaving.set(false);
        source.join();
        assertTrue(publisher.close(Duration.ofSeconds(30)));
        final Taker last = takers.get(4);
        last.finish();
        assertEquals(0, last.missed.get());
        assertEquals(published.get(), last.frames.get());
    }

    @Test
    void shouldHoldTheSourceBackForAFollowerAndNotForOneThatLeft() throws Exception {
        final Publisher publisher = publisher();
        final Taker leader = taker();
        await(() -> leader.subscriber.state() == Subscriber.State.READY, "leader");
        final Framecast node = launch();
        final Subscriber lazy = node.subscribe(channel);
        await(
                () -> {
                    lazy.poll();
                    return lazy.state() == Subscriber.State.READY;
                },
                "follower");
        final MemorySegment memory = arena.allocate(FRAME_BYTES);
        long taken = 0;
        // Its ring is full: the leader's own subscriber released everything long ago.
        for (int refused = 0; refused < 50; ) {
            MemorySegment.copy(content(taken), 0, memory, 0, FRAME_BYTES);
            final boolean accepted = publisher.offer(memory, FrameOptions.DEFAULT) >= 0;
            taken += accepted ? 1 : 0;
            refused = accepted ? 0 : refused + 1;
            Thread.sleep(1);
            assertTrue(taken < 10_000, "the source is never held back");
        }
        final AtomicReference<DeviceFrame> polled = new AtomicReference<>();
        await(
                () -> {
                    polled.set(lazy.poll());
                    return polled.get() != null;
                },
                "a frame");
        final DeviceFrame held = polled.get();
        lazy.close();
        // A held frame stays as it was, and holds the source back until the user releases it.
        Thread.sleep(50);
        assertEquals(-1, held.region().host().mismatch(content(0)));
        held.close();
        publish(publisher, taken, 100);
        assertTrue(publisher.close(Duration.ofSeconds(30)));
        leader.finish();
        assertEquals(taken + 100, leader.frames.get());
    }

    @Test
    void shouldShareMetadataAndKeyframes() throws Exception {
        final Publisher publisher = publisher();
        final Taker leader = taker();
        await(() -> leader.subscriber.state() == Subscriber.State.READY, "leader");
        final Framecast node = launch();
        final Subscriber follower = node.subscribe(channel);
        await(
                () -> {
                    follower.poll();
                    return follower.state() == Subscriber.State.READY;
                },
                "follower");
        final MemorySegment memory = arena.allocate(FRAME_BYTES);
        MemorySegment.copy(content(0), 0, memory, 0, FRAME_BYTES);
        final byte[] metadata = {1, 2, 3, 4, 5};
        final FrameOptions options =
                FrameOptions.DEFAULT.withMetadata(metadata).withKeyframe(true).withSourceTimestampNs(4711);
        await(() -> publisher.offer(memory, options) >= 0, "room");
        await(() -> follower.awaitFrame(NAP), "frame");
        try (DeviceFrame frame = follower.poll()) {
            assertNotNull(frame);
            assertEquals(4711, frame.sourceTimestampNs());
            assertEquals(true, frame.keyframe());
            assertEquals(
                    MemorySegment.ofArray(metadata).byteSize(),
                    MemorySegment.ofArray(frame.metadata()).byteSize());
            assertEquals(-1, MemorySegment.ofArray(metadata).mismatch(MemorySegment.ofArray(frame.metadata())));
            assertEquals((byte) 0, frame.region().host().get(ValueLayout.JAVA_BYTE, 1));
        }
        follower.close();
        leader.leave();
    }

    @Test
    void shouldSleepThroughAnInterruptFromBefore() throws Exception {
        publisher();
        final Taker leader = taker();
        await(() -> leader.subscriber.state() == Subscriber.State.READY, "leader");
        final Framecast node = launch();
        final Subscriber follower = node.subscribe(channel);
        Thread.currentThread().interrupt();
        final long startNs = System.nanoTime();
        assertEquals(false, follower.awaitFrame(Duration.ofMillis(50)));
        assertTrue(System.nanoTime() - startNs >= 50_000_000);
        assertTrue(Thread.interrupted());
        leader.leave();
    }
}
