package io.framecast.engine.hostgroup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameClaim;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.MemberStats;
import io.framecast.api.NodeConfig;
import io.framecast.api.Publisher;
import io.framecast.api.SourceEvent;
import io.framecast.api.SourceOptions;
import io.framecast.api.Subscriber;
import io.framecast.engine.auth.AuthKeys;
import io.framecast.engine.auth.TestKeys;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.libc.UnixSocket;
import io.framecast.engine.testing.StreamFixture;
import io.framecast.reliability.wire.Delivery;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.CsvSource;

/// Subscribers that read a publisher's window on its own host. Each has a node of its own, as processes have.
@ParameterizedClass
@CsvSource({"udp, plain", "aeron, plain", "udp, unprotected", "udp, cipher", "aeron, auth"})
class LocalPublisherTest {
    private static final int FRAME_MAX = 100_000;
    private static final int FRAMES = 800;
    private static final long WAIT_NS = TimeUnit.SECONDS.toNanos(60);
    private static final Duration NAP = Duration.ofMillis(20);

    private final Channel channel;
    private final List<Framecast> nodes = new ArrayList<>();
    private final List<Reader> readers = new ArrayList<>();
    private final ConcurrentLinkedQueue<String> notices = new ConcurrentLinkedQueue<>();
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory = arena.allocate(FRAME_MAX);

    LocalPublisherTest(final String transport, final String seal) {
        channel = StreamFixture.channel(
                transport,
                "|window=300k|frame-max=" + FRAME_MAX + "|device=host|host-group=a|rejoin=20s"
                        + (transport.equals("udp") ? "|mtu=1500" : "")
                        + TestKeys.options(seal));
    }

    /// One subscriber, with a thread that takes its frames and checks them.
    private final class Reader {
        private final Subscriber subscriber;
        private final Thread thread;
        private final AtomicLong frames = new AtomicLong();
        // Read when the thread has ended.
        private String wrong = "";
        private long first = -1;
        private long next;
        private final List<SourceEvent.Kind> events = new ArrayList<>();

        Reader(final Channel where) {
            subscriber = node().subscribe(where);
            subscriber.onLoss((id, count, reason) -> wrong += count + " lost from " + id + " for " + reason + "; ");
            subscriber.onSource(event -> {
                events.add(event.kind());
                final boolean joins =
                        event.kind() == SourceEvent.Kind.JOINED || event.kind() == SourceEvent.Kind.REJOINED;
                first = joins ? -1 : first;
            });
            thread = Thread.ofPlatform().start(this::take);
        }

        private void take() {
            while (true) {
                final DeviceFrame frame = subscriber.poll();
                if (frame != null) {
                    check(frame);
                    frame.close();
                } else if (!subscriber.awaitFrame(NAP) && isOver()) {
                    // Reports the end.
                    subscriber.poll();
                    return;
                }
            }
        }

        private boolean isOver() {
            final Subscriber.State state = subscriber.state();
            return state != Subscriber.State.JOINING && state != Subscriber.State.READY;
        }

        private void check(final DeviceFrame frame) {
            final long id = frame.frameId();
            wrong += first >= 0 && id != next ? "frame " + id + " instead of " + next + "; " : "";
            first = first < 0 ? id : first;
            next = id + 1;
            final Plan plan = new Plan(id);
            final boolean same = frame.length() == plan.bytes
                    && frame.region().host().mismatch(plan.content()) < 0
                    && frame.keyframe() == plan.keyframe
                    && frame.sourceTimestampNs() == id
                    && Arrays.equals(frame.metadata(), plan.metadata);
            wrong += same ? "" : "frame " + id + " of " + frame.length() + " bytes is another; ";
            frames.incrementAndGet();
        }

        void finish() throws InterruptedException {
            thread.join(TimeUnit.NANOSECONDS.toMillis(WAIT_NS));
            assertEquals("", wrong);
            assertEquals(Subscriber.State.END_OF_STREAM, subscriber.state());
        }
    }

    /// Length and content of a frame, by its number: mostly small frames, which share datagrams.
    private static final class Plan {
        private final int bytes;
        private final boolean keyframe;
        private final byte[] metadata;
        private final byte seed;

        Plan(final long id) {
            final SplittableRandom random = new SplittableRandom(id);
            bytes = switch (random.nextInt(8)) {
                case 0 -> random.nextInt(1, 3000);
                case 1 -> random.nextInt(1, FRAME_MAX + 1);
                case 2 -> FRAME_MAX;
                default -> random.nextInt(1, 200);
            };
            keyframe = random.nextInt(10) == 0;
            metadata = new byte[random.nextInt(5) == 0 ? random.nextInt(1, 1025) : 0];
            random.nextBytes(metadata);
            seed = (byte) id;
        }

        MemorySegment content() {
            final byte[] content = new byte[bytes];
            for (int i = 0; i < bytes; i++) {
                content[i] = (byte) (seed + i * 7 + (i >> 8));
            }
            return MemorySegment.ofArray(content);
        }

        FrameOptions options(final long id) {
            return FrameOptions.DEFAULT
                    .withKeyframe(keyframe)
                    .withMetadata(metadata)
                    .withSourceTimestampNs(id);
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

    private Framecast node() {
        final Framecast node = Framecast.launch(NodeConfig.DEFAULT.withNotices(notices::add));
        nodes.add(node);
        return node;
    }

    private Publisher publisher() {
        return node().publish(channel);
    }

    private Reader reader() {
        return reader(channel);
    }

    private Reader reader(final Channel where) {
        final Reader made = new Reader(where);
        readers.add(made);
        return made;
    }

    // A subscriber that gets datagrams, as one on another host does.
    private Channel remote() {
        return channel.withStream(
                channel.stream().withSources(channel.stream().sources().withHostGroup(SourceOptions.NO_HOST_GROUP)));
    }

    private void await(final BooleanSupplier condition, final String what) throws InterruptedException {
        final long startNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - startNs < WAIT_NS, () -> "waited in vain: " + what + "; " + notices);
            Thread.sleep(2);
        }
    }

    // By both ways that frames are published.
    private boolean offer(final Publisher publisher, final long id) {
        final Plan plan = new Plan(id);
        if (id % 3 == 0) {
            final FrameClaim claim = new FrameClaim();
            if (publisher.tryClaim(plan.bytes, claim) < 0) {
                return false;
            }
            claim.segment().copyFrom(plan.content());
            claim.commit(plan.options(id));
            return true;
        }
        final MemorySegment frame = memory.asSlice(0, plan.bytes).copyFrom(plan.content());
        return publisher.offer(frame, plan.options(id)) >= 0;
    }

    private void publish(final Publisher publisher, final long first, final int count) {
        final long startNs = System.nanoTime();
        for (long id = first; id < first + count; id++) {
            while (!offer(publisher, id)) {
                publisher.awaitRoom(new Plan(id).bytes, Duration.ofSeconds(1));
                assertTrue(System.nanoTime() - startNs < WAIT_NS, "frame " + id + " finds no room");
            }
        }
    }

    private void awaitReaders(final Publisher publisher, final int count) throws InterruptedException {
        await(() -> publisher.readySubscribers() == count, count + " readers");
    }

    @Test
    void shouldGiveFramesOfAllKindsToReadersAndMembersInOneOrder() throws Exception {
        final Publisher publisher = publisher();
        for (int i = 0; i < 3; i++) {
            reader();
        }
        reader(remote());
        awaitReaders(publisher, 4);
        publish(publisher, 0, FRAMES);
        assertTrue(publisher.stats().sentDatagrams() > 0);
        assertTrue(publisher.close(Duration.ofSeconds(30)));
        for (final Reader reader : readers) {
            reader.finish();
            assertEquals(FRAMES, reader.frames.get());
        }
    }

    @Test
    void shouldSendNoDatagramWhereAllReadTheWindow() throws Exception {
        final Publisher publisher = publisher();
        reader();
        reader();
        awaitReaders(publisher, 2);
        publish(publisher, 0, FRAMES);
        assertEquals(0, publisher.stats().sentDatagrams());
        final List<MemberStats> members = publisher.stats().members();
        assertEquals(2, members.size());
        assertTrue(
                members.getFirst()
                        .address()
                        .contains("" + ProcessHandle.current().pid()),
                members::toString);
        assertTrue(publisher.close(Duration.ofSeconds(30)));
        for (final Reader reader : readers) {
            reader.finish();
            assertEquals(FRAMES, reader.frames.get());
        }
    }

    @Test
    void shouldLetAGroupReadTheWindowOfAPublisherThatComesLater() throws Exception {
        final Reader leads = reader();
        await(() -> notices.stream().anyMatch(line -> line.contains("leads")), "a leader");
        reader();
        await(() -> notices.stream().anyMatch(line -> line.contains("follows")), "a follower");
        final Publisher publisher = publisher();
        awaitReaders(publisher, 2);
        publish(publisher, 0, 100);
        assertEquals(0, publisher.stats().sentDatagrams());
        assertTrue(publisher.close(Duration.ofSeconds(30)));
        for (final Reader reader : readers) {
            reader.finish();
            assertEquals(100, reader.frames.get());
        }
        assertEquals(List.of(SourceEvent.Kind.JOINED, SourceEvent.Kind.ENDED), leads.events);
    }

    @Test
    void shouldGiveALateReaderTheNextFrame() throws Exception {
        final Publisher publisher = publisher();
        reader();
        awaitReaders(publisher, 1);
        publish(publisher, 0, 500);
        final Reader late = reader();
        awaitReaders(publisher, 2);
        publish(publisher, 500, 500);
        assertTrue(publisher.close(Duration.ofSeconds(30)));
        for (final Reader reader : readers) {
            reader.finish();
        }
        assertEquals(500, late.first);
        assertEquals(500, late.frames.get());
    }

    @Test
    void shouldFreeTheWindowAtOnceWhenAReaderThatHoldsItIsGone() throws Exception {
        final Publisher publisher = publisher();
        final Reader reader = reader();
        awaitReaders(publisher, 1);
        // As a process that dies: it never reads.
        final Path directory = directory();
        final UnixSocket dying = UnixSocket.connect(sourceSocket(directory));
        assertNotNull(dying);
        dying.send(GroupMessage.hello(arena.allocate(UnixSocket.MESSAGE_BYTES), 4711, 0, Delivery.RELIABLE));
        awaitReaders(publisher, 2);
        long taken = 0;
        for (int refused = 0; refused < 50; ) {
            final boolean accepted = offer(publisher, taken);
            taken += accepted ? 1 : 0;
            refused = accepted ? 0 : refused + 1;
            Thread.sleep(1);
        }
        assertFalse(publisher.awaitRoom(FRAME_MAX, Duration.ofMillis(50)));
        await(
                () -> publisher.stats().members().getFirst().lagDatagrams() > 0
                        && publisher
                                .stats()
                                .members()
                                .getFirst()
                                .address()
                                .contains("process " + ProcessHandle.current().pid()),
                "the one that holds all");
        final Thread killer = Thread.ofPlatform().start(() -> {
            LockSupport.parkNanos(50_000_000);
            dying.close();
        });
        // Only its death frees the window: nothing else is timed in a host group.
        assertTrue(publisher.awaitRoom(FRAME_MAX, Duration.ofNanos(WAIT_NS)));
        killer.join();
        publish(publisher, taken, 100);
        assertTrue(publisher.close(Duration.ofSeconds(30)));
        reader.finish();
        assertEquals(taken + 100, reader.frames.get());
    }

    @Test
    void shouldReadAnewWhenThePublisherComesBack() throws Exception {
        final Publisher former = publisher();
        reader();
        reader();
        awaitReaders(former, 2);
        publish(former, 0, 50);
        await(() -> readers.stream().allMatch(reader -> reader.frames.get() == 50), "50 frames");
        // Without an end of stream.
        former.abandon();
        final Publisher next = publisher();
        awaitReaders(next, 2);
        publish(next, 0, 60);
        assertEquals(0, next.stats().sentDatagrams());
        assertTrue(next.close(Duration.ofSeconds(30)));
        for (final Reader reader : readers) {
            reader.finish();
            assertEquals(110, reader.frames.get());
            assertEquals(
                    List.of(
                            SourceEvent.Kind.JOINED,
                            SourceEvent.Kind.LOST,
                            SourceEvent.Kind.REJOINED,
                            SourceEvent.Kind.ENDED),
                    reader.events);
        }
    }

    @Test
    void shouldLoseItsSourceWhereItDoesNotWaitForAnother() throws Exception {
        final Publisher publisher = publisher();
        final Reader reader = reader(channel.withStream(
                channel.stream().withSources(channel.stream().sources().withRejoinMs(0))));
        awaitReaders(publisher, 1);
        publish(publisher, 0, 10);
        publisher.abandon();
        reader.thread.join(TimeUnit.NANOSECONDS.toMillis(WAIT_NS));
        assertEquals(Subscriber.State.SOURCE_LOST, reader.subscriber.state());
        assertEquals(10, reader.frames.get());
    }

    @Test
    void shouldGiveUpWhenThePublisherDoesNotComeBackInTime() throws Exception {
        final Publisher publisher = publisher();
        final Reader reader = reader(channel.withStream(
                channel.stream().withSources(channel.stream().sources().withRejoinMs(100))));
        awaitReaders(publisher, 1);
        publish(publisher, 0, 10);
        publisher.abandon();
        reader.thread.join(TimeUnit.NANOSECONDS.toMillis(WAIT_NS));
        assertEquals(Subscriber.State.SOURCE_LOST, reader.subscriber.state());
        assertEquals(10, reader.frames.get());
    }

    @Test
    void shouldShareNothingBesideAnotherPublisherOrWhereAFrameExceedsTheWindow() throws Exception {
        publisher();
        publisher();
        assertTrue(notices.stream().anyMatch(line -> line.contains("another publisher")), notices::toString);
        node().publish(StreamFixture.channel("udp", "|mtu=1500|window=1M|frame-max=2M|host-group=auto"));
        assertTrue(notices.stream().anyMatch(line -> line.contains("enlarge window=")), notices::toString);
    }

    @Test
    void shouldKeepWhatAReaderHoldsWhenThePublisherIsGone() throws Exception {
        final Publisher publisher = publisher();
        final Subscriber subscriber = node().subscribe(channel);
        await(
                () -> {
                    subscriber.poll();
                    return publisher.readySubscribers() == 1 && subscriber.state() == Subscriber.State.READY;
                },
                "reader");
        publish(publisher, 0, 20);
        assertTrue(publisher.close(Duration.ofSeconds(30)));
        for (long id = 0; id < 20; id++) {
            try (DeviceFrame frame = subscriber.poll()) {
                assertNotNull(frame);
                assertEquals(-1, frame.region().host().mismatch(new Plan(id).content()));
            }
        }
        await(() -> subscriber.poll() == null && subscriber.state() == Subscriber.State.END_OF_STREAM, "end");
        subscriber.close();
    }

    private static Path directory() {
        return HostGroups.directory();
    }

    private Path sourceSocket(final Path directory) {
        return HostGroups.sourcePath(
                directory, channel, AuthKeys.hostTagOfSource(channel.link().security()));
    }
}
