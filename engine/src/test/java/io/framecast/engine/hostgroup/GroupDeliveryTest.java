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
import io.framecast.api.MemberStats;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.testing.StreamFixture;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Subscribers of one host group under different policies.
class GroupDeliveryTest {
    private static final int FRAME_BYTES = 30_000;
    private static final long WAIT_NS = TimeUnit.SECONDS.toNanos(60);

    private final String channel = StreamFixture.channel(
                    "udp", "|mtu=1500|window=300k|frame-max=100000|device=host|frames-held=8|alive-timeout=20000")
            .toString();
    private final List<Framecast> nodes = new ArrayList<>();
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory = arena.allocate(FRAME_BYTES);

    /// A subscriber, whose frames and losses follow each other without a gap and are what was published.
    private final class Reader {
        private final Subscriber subscriber;
        private final Map<LossReason, Long> lost = new EnumMap<>(LossReason.class);
        private long first = -1;
        private long next = -1;
        private long frames;
        private String wrong = "";

        Reader(final String delivery) {
            final Framecast node = Framecast.launch();
            nodes.add(node);
            subscriber = node.subscribe(Channel.parse(channel + "|host-group=test|delivery=" + delivery));
            subscriber.onLoss((id, count, reason) -> {
                follow(id);
                next = id + count;
                lost.merge(reason, count, Long::sum);
            });
        }

        private void follow(final long id) {
            if (next < 0) {
                first = id;
            } else if (id != next) {
                wrong += "frame " + id + " instead of " + next + "; ";
            }
        }

        boolean take() {
            final DeviceFrame frame = subscriber.poll();
            if (frame == null) {
                return false;
            }
            follow(frame.frameId());
            next = frame.frameId() + 1;
            if (frame.region().host().mismatch(content(frame.frameId())) >= 0) {
                wrong += "content of frame " + frame.frameId() + "; ";
            }
            frames++;
            frame.close();
            return true;
        }

        boolean isReady() {
            take();
            return subscriber.state() == Subscriber.State.READY;
        }

        void finish(final long published) throws InterruptedException {
            await(
                    () -> {
                        take();
                        return subscriber.state() == Subscriber.State.END_OF_STREAM;
                    },
                    "the end of the stream");
            assertEquals("", wrong);
            assertEquals(published, next, "every frame is given or reported");
            assertEquals(
                    published - first,
                    frames + lost.values().stream().mapToLong(Long::longValue).sum());
        }
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
        final MemorySegment bytes = MemorySegment.ofArray(new byte[FRAME_BYTES]);
        for (int i = 0; i + Long.BYTES <= FRAME_BYTES; i += 96) {
            bytes.set(ValueLayout.JAVA_LONG_UNALIGNED, i, 31 * frameId + i);
        }
        return bytes;
    }

    // Not of this host, as far as its subscribers know; or of their group.
    private Publisher publisher(final boolean local) {
        final Framecast node = Framecast.launch();
        nodes.add(node);
        return node.publish(Channel.parse(channel + (local ? "|host-group=test" : "")));
    }

    private void publish(final Publisher publisher, final long id, final FrameOptions options)
            throws InterruptedException {
        MemorySegment.copy(content(id), 0, memory, 0, FRAME_BYTES);
        await(() -> publisher.offer(memory, options) >= 0, "room for frame " + id);
    }

    private void await(final BooleanSupplier condition, final String what) throws InterruptedException {
        final long startNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - startNs < WAIT_NS, () -> "waited in vain: " + what);
            Thread.sleep(1);
        }
    }

    private static List<String> policies(final Publisher publisher) {
        return publisher.stats().members().stream().map(MemberStats::delivery).toList();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldGiveTheNewestFrameToOneWhoIsLateAndHoldNobodyUp(final boolean local) throws Exception {
        final Publisher publisher = publisher(local);
        final Reader every = new Reader("reliable");
        await(every::isReady, "the leader");
        final Reader newest = new Reader("latest");
        final Reader young = new Reader("deadline=200ms");
        await(() -> newest.isReady() && young.isReady(), "the others");
        await(() -> publisher.readySubscribers() == 3, "all three are counted");
        // Many times around the ring, while only one polls.
        for (long id = 0; id < 300; id++) {
            publish(publisher, id, FrameOptions.DEFAULT);
            await(every::take, "frame " + id);
        }
        assertEquals(300, every.frames);
        await(newest::take, "the newest frame");
        assertEquals(300, newest.next, "the newest frame is frame 299");
        assertEquals(Map.of(LossReason.SUPERSEDED, 299L), newest.lost);
        Thread.sleep(250);
        young.take();
        assertEquals(0, young.frames, "all frames are too old");
        // A machine that stands still for 200 ms makes it too old: then the next one.
        long published = 300;
        while (young.frames == 0) {
            assertTrue(published < 330, "each young frame is too old");
            publish(publisher, published++, FrameOptions.DEFAULT);
            await(every::take, "a young frame at the leader");
            for (int ms = 0; ms < 2_000 && !young.take(); ms++) {
                Thread.sleep(1);
            }
        }
        assertTrue(publisher.close(Duration.ofSeconds(30)));
        for (final Reader reader : List.of(every, newest, young)) {
            reader.finish(published);
        }
        assertEquals(published, every.frames);
        assertEquals(2, newest.frames);
        assertTrue(young.lost.getOrDefault(LossReason.EXPIRED, 0L) > 0, young.lost::toString);
    }

    /// A leader whose stream has ended writes nothing more: what lies in its ring is not gone.
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldGiveTheLastFrameWhenTheLeaderIsGone(final boolean local) throws Exception {
        final Publisher publisher = publisher(local);
        final Reader every = new Reader("reliable");
        await(every::isReady, "the leader");
        final Reader newest = new Reader("latest");
        final Reader young = new Reader("deadline=60s");
        await(() -> newest.isReady() && young.isReady(), "the others");
        await(() -> publisher.readySubscribers() == 3, "all three are counted");
        for (long id = 0; id < 100; id++) {
            publish(publisher, id, FrameOptions.DEFAULT);
            await(every::take, "frame " + id);
        }
        assertTrue(publisher.close(Duration.ofSeconds(30)));
        every.finish(100);
        nodes.get(local ? 0 : 1).close();
        newest.finish(100);
        assertEquals(1, newest.frames);
        young.finish(100);
        assertTrue(young.frames > 0, young.lost::toString);
    }

    @Test
    void shouldWaitForAGroupAsLongAsOneOfItMustHaveEveryFrame() throws Exception {
        final Publisher publisher = publisher(false);
        final Reader newest = new Reader("latest");
        await(newest::isReady, "the leader");
        await(() -> publisher.readySubscribers() == 1, "it is counted");
        assertEquals(List.of("latest"), policies(publisher));
        // No subscriber polls, and the source waits for none.
        for (long id = 0; id < 200; id++) {
            publish(publisher, id, FrameOptions.DEFAULT);
        }
        final Reader every = new Reader("reliable");
        final long[] id = {200};
        await(
                () -> {
                    publishNow(publisher, id);
                    return every.isReady();
                },
                "one who must have every frame");
        await(() -> policies(publisher).equals(List.of("reliable")), "the source waits");
        for (int i = 0; i < 300; i++) {
            publish(publisher, id[0]++, FrameOptions.DEFAULT);
            if (i % 3 == 0) {
                newest.take();
            }
            every.take();
        }
        while (every.next < id[0]) {
            every.take();
        }
        assertEquals(Map.of(), every.lost);
        assertEquals(id[0] - every.first, every.frames);
        every.subscriber.close();
        await(() -> policies(publisher).equals(List.of("latest")), "the source need not wait any more");
        for (int i = 0; i < 200; i++) {
            publish(publisher, id[0]++, FrameOptions.DEFAULT);
        }
        assertTrue(publisher.close(Duration.ofSeconds(30)));
        newest.finish(id[0]);
        assertEquals("", every.wrong);
    }

    private void publishNow(final Publisher publisher, final long[] id) {
        MemorySegment.copy(content(id[0]), 0, memory, 0, FRAME_BYTES);
        id[0] += publisher.offer(memory, FrameOptions.DEFAULT) >= 0 ? 1 : 0;
    }

    /// A subscriber that must miss nothing succeeds a leader that need not have everything, and the reverse.
    @ParameterizedTest
    @ValueSource(strings = {"latest", "reliable"})
    void shouldGoOnUnderThePolicyOfThoseWhoStay(final String leading) throws Exception {
        final Publisher publisher = publisher(false);
        final Reader leader = new Reader(leading);
        await(leader::isReady, "the leader");
        final Reader every = new Reader("reliable");
        final Reader newest = new Reader("latest");
        await(() -> every.isReady() && newest.isReady(), "the others");
        await(() -> publisher.readySubscribers() == 3, "all three are counted");
        long id = 0;
        for (; id < 100; id++) {
            publish(publisher, id, FrameOptions.DEFAULT);
            leader.take();
            every.take();
        }
        leader.subscriber.close();
        for (; id < 300; id++) {
            publish(publisher, id, FrameOptions.DEFAULT);
            every.take();
        }
        assertTrue(publisher.close(Duration.ofSeconds(30)));
        every.finish(300);
        newest.finish(300);
        assertEquals(Map.of(), every.lost);
        assertEquals(0, publisher.stats().evictions().size());
    }

    @Test
    void shouldBeginAtAKeyframeWhereFramesAreMarked() throws Exception {
        final Publisher publisher = publisher(false);
        final Reader every = new Reader("reliable");
        final Reader newest = new Reader("latest");
        await(() -> every.isReady() && newest.isReady(), "ready");
        await(() -> publisher.readySubscribers() == 2, "both are counted");
        for (long id = 0; id < 25; id++) {
            publish(publisher, id, FrameOptions.DEFAULT.withKeyframe(id % 10 == 0));
            await(every::take, "frame " + id);
        }
        // The newest keyframe, and what follows it.
        final DeviceFrame frame = newest.subscriber.poll();
        assertNotNull(frame);
        assertEquals(20, frame.frameId());
        assertTrue(frame.keyframe());
        frame.close();
        newest.next = 21;
        assertEquals(Map.of(LossReason.SUPERSEDED, 20L), newest.lost);
        for (long id = 21; id < 25; id++) {
            await(newest::take, "frame behind the keyframe");
            assertEquals(id + 1, newest.next);
        }
        assertTrue(publisher.close(Duration.ofSeconds(30)));
        every.finish(25);
    }
}
