package io.framecast.engine.hostgroup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.Publisher;
import io.framecast.api.SourceOptions;
import io.framecast.api.Subscriber;
import io.framecast.api.format.FrameFormat;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.metrics.CounterReader;
import io.framecast.engine.metrics.EngineCounter;
import io.framecast.engine.testing.StreamFixture;
import io.framecast.reliability.group.SegmentLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Subscribers that hold frames in the memory of their host's leader: the source goes on, and others miss
/// nothing.
class HeldFramesTest {
    private static final int FRAMES = 60;
    private static final long WAIT_NS = TimeUnit.SECONDS.toNanos(60);
    private static final Duration NAP = Duration.ofMillis(20);

    private final List<Framecast> nodes = new ArrayList<>();
    private final List<Reader> readers = new ArrayList<>();
    private final ConcurrentLinkedQueue<String> notices = new ConcurrentLinkedQueue<>();
    private final Arena arena = Arena.ofShared();

    @TempDir
    private Path directory;

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
        final Framecast node = Framecast.launch(NodeConfig.DEFAULT
                .withCountersFile(directory.resolve(nodes.size() + ".counters"))
                .withNotices(notices::add));
        nodes.add(node);
        return node;
    }

    /// A subscriber with a thread that holds its newest frames, and perhaps its first one to the end.
    private final class Reader {
        private final Subscriber subscriber;
        private final int held;
        private final boolean keepsFirst;
        private final Thread thread;
        // Read when the thread has ended.
        private final StringBuilder wrong = new StringBuilder();
        private long frames;

        Reader(final Channel where, final int held, final boolean keepsFirst) {
            this.held = held;
            this.keepsFirst = keepsFirst;
            subscriber = node().subscribe(where);
            subscriber.onLoss(
                    (id, count, reason) -> wrong.append(count + " lost from " + id + " for " + reason + "; "));
            thread = Thread.ofPlatform().start(this::take);
            readers.add(this);
        }

        private void take() {
            final ArrayDeque<DeviceFrame> newest = new ArrayDeque<>();
            DeviceFrame first = null;
            while (true) {
                final DeviceFrame frame = subscriber.poll();
                if (frame != null) {
                    check(frame);
                    frames++;
                    if (first == null && keepsFirst) {
                        first = frame;
                    } else {
                        newest.add(frame);
                    }
                    if (newest.size() > held) {
                        giveBack(newest.remove());
                    }
                } else if (!subscriber.awaitFrame(NAP) && isOver()) {
                    break;
                }
            }
            newest.forEach(this::giveBack);
            if (first != null) {
                giveBack(first);
            }
        }

        private boolean isOver() {
            final Subscriber.State state = subscriber.state();
            return state != Subscriber.State.JOINING && state != Subscriber.State.READY;
        }

        private void giveBack(final DeviceFrame frame) {
            check(frame);
            frame.close();
        }

        private void check(final DeviceFrame frame) {
            final MemorySegment expected = MemorySegment.ofArray(new byte[(int) frame.length()]);
            expected.fill((byte) frame.frameId());
            if (frame.region().host().mismatch(expected) >= 0) {
                wrong.append("frame " + frame.frameId() + " is another; ");
            }
        }

        void finish(final int expected) throws InterruptedException {
            thread.join(TimeUnit.NANOSECONDS.toMillis(WAIT_NS));
            assertFalse(thread.isAlive(), () -> "frames to come; " + notices);
            assertEquals("", wrong.toString());
            assertEquals(Subscriber.State.END_OF_STREAM, subscriber.state());
            assertEquals(expected, frames);
        }
    }

    // A subscriber that gets datagrams, as one on another host does.
    private static Channel remote(final Channel channel) {
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

    private void publish(final Publisher publisher, final long bytes, final int count) {
        final MemorySegment memory = arena.allocate(bytes);
        final long startNs = System.nanoTime();
        for (int id = 0; id < count; id++) {
            memory.fill((byte) id);
            while (publisher.offer(memory, FrameOptions.DEFAULT) < 0) {
                publisher.awaitRoom(bytes, Duration.ofSeconds(1));
                final int frame = id;
                assertTrue(
                        System.nanoTime() - startNs < WAIT_NS, () -> "frame " + frame + " finds no room; " + notices);
            }
        }
    }

    private long counted(final int node, final EngineCounter kind) {
        try (CounterReader counters = CounterReader.open(directory.resolve(node + ".counters"))) {
            return counters.samples().stream()
                    .filter(sample -> sample.name().equals(kind.exportedName()))
                    .filter(sample ->
                            sample.labelMap().getOrDefault("member", "").endsWith(" on this host"))
                    .mapToLong(sample -> sample.value())
                    .sum();
        }
    }

    // With a window of a frame and a half one frame that is held leaves no room for the next one.
    @ParameterizedTest
    @CsvSource({"1, false", "2, false", "12, false", "0, true", "3, true"})
    void shouldGoOnWithADefaultWindowWhereOneHoldsFrames(final int held, final boolean keepsFirst) throws Exception {
        final int bytes = 1_900_000;
        final Channel channel = StreamFixture.channel("udp", "|mtu=1500|device=host|host-group=h|frame-max=" + bytes);
        final Publisher publisher = node().publish(channel);
        new Reader(channel, held, keepsFirst);
        new Reader(channel, 0, false);
        new Reader(remote(channel), 0, false);
        await(() -> publisher.readySubscribers() == 3, "three subscribers");
        publish(publisher, bytes, FRAMES);
        final boolean copies = keepsFirst || held > 2;
        if (copies) {
            await(() -> counted(0, EngineCounter.MEMBER_FRAMES_COPIED) > 0, "copies");
            await(() -> notices.stream().anyMatch(line -> line.contains("keeps more frames than")), "a notice");
        } else if (held == 1) {
            assertEquals(0, counted(0, EngineCounter.MEMBER_FRAMES_COPIED));
        }
        assertTrue(publisher.close(Duration.ofSeconds(30)));
        for (final Reader reader : readers) {
            reader.finish(FRAMES);
        }
    }

    @ParameterizedTest
    @CsvSource({"1, false", "2, false", "40, false", "0, true", "40, true"})
    void shouldGoOnWithASmallWindowWhereOneHoldsFrames(final int held, final boolean keepsFirst) throws Exception {
        final int bytes = 100_000;
        final Channel channel =
                StreamFixture.channel("udp", "|mtu=1500|device=host|host-group=h|window=110k|frame-max=" + bytes);
        final Publisher publisher = node().publish(channel);
        new Reader(channel, held, keepsFirst);
        new Reader(channel, 1, false);
        new Reader(remote(channel), 0, false);
        await(() -> publisher.readySubscribers() == 3, "three subscribers");
        publish(publisher, bytes, 4 * FRAMES);
        assertTrue(publisher.close(Duration.ofSeconds(30)));
        for (final Reader reader : readers) {
            reader.finish(4 * FRAMES);
        }
    }

    // Frames that share datagrams, more of them than the table has room for.
    @Test
    void shouldGoOnWhereOneHoldsASmallFrameForEver() throws Exception {
        final Channel channel = StreamFixture.channel("udp", "|mtu=1500|device=host|host-group=h|frame-max=1000");
        final Publisher publisher = node().publish(channel);
        new Reader(channel, 0, true);
        new Reader(channel, 3_000, false);
        await(() -> publisher.readySubscribers() == 2, "two subscribers");
        publish(publisher, 100, 3 * SegmentLayout.ENTRIES);
        assertTrue(publisher.close(Duration.ofSeconds(30)));
        for (final Reader reader : readers) {
            reader.finish(3 * SegmentLayout.ENTRIES);
        }
    }

    // A source has few numbers for formats.
    @Test
    void shouldGoOnWhereTheFormatOfAHeldFrameIsInTheWay() throws Exception {
        final Channel channel = StreamFixture.channel("udp", "|mtu=1500|device=host|host-group=h|frame-max=1000");
        final Publisher publisher = node().publish(channel);
        new Reader(channel, 0, true);
        new Reader(channel, 0, false);
        await(() -> publisher.readySubscribers() == 2, "two subscribers");
        final MemorySegment memory = arena.allocate(500);
        final long startNs = System.nanoTime();
        for (int id = 0; id < 200; id++) {
            memory.fill((byte) id);
            publisher.format(FrameFormat.EMPTY.withKey("n", Integer.toString(id)));
            while (publisher.offer(memory, FrameOptions.DEFAULT) < 0) {
                publisher.awaitRoom(500, Duration.ofMillis(50));
                assertTrue(System.nanoTime() - startNs < WAIT_NS, () -> "no room; " + notices);
            }
        }
        assertTrue(publisher.close(Duration.ofSeconds(30)));
        for (final Reader reader : readers) {
            reader.finish(200);
        }
    }

    // The ring of a subscriber that leads has room for what its members hold, and they copy what is more.
    @ParameterizedTest
    @CsvSource({"2, false", "20, false", "0, true"})
    void shouldGoOnWhereAMemberOfAReceiverHoldsFrames(final int held, final boolean keepsFirst) throws Exception {
        final int bytes = 100_000;
        final Channel channel =
                StreamFixture.channel("udp", "|mtu=1500|device=host|host-group=h|window=110k|frame-max=" + bytes);
        final Publisher publisher = node().publish(remote(channel));
        new Reader(channel, 0, false);
        new Reader(channel, held, keepsFirst);
        new Reader(remote(channel), 0, false);
        await(() -> publisher.readySubscribers() == 3, "three subscribers");
        publish(publisher, bytes, 4 * FRAMES);
        if (held > 2 || keepsFirst) {
            await(() -> notices.stream().anyMatch(line -> line.contains("than the ring has room for")), "a notice");
        }
        assertTrue(publisher.close(Duration.ofSeconds(30)));
        for (final Reader reader : readers) {
            reader.finish(4 * FRAMES);
        }
    }

    // One that reads no more is a slow subscriber: its line says what to do, and the counters for how long it held the
    // publisher.
    @Test
    void shouldNameAReaderThatReadsNoMore() throws Exception {
        final int bytes = 100_000;
        final Channel channel = StreamFixture.channel(
                "udp", "|mtu=1500|device=host|host-group=h|alive-timeout=300|window=110k|frame-max=" + bytes);
        final Publisher publisher = node().publish(channel);
        final Subscriber slow = node().subscribe(channel);
        await(() -> publisher.readySubscribers() == 1, "a subscriber");
        final MemorySegment memory = arena.allocate(bytes);
        while (publisher.offer(memory, FrameOptions.DEFAULT) >= 0) {
            assertFalse(slow.state() == Subscriber.State.FAILED);
        }
        await(
                () -> {
                    publisher.awaitRoom(bytes, Duration.ofMillis(10));
                    return notices.stream().anyMatch(line -> line.contains("give it delivery=latest"));
                },
                "a line");
        await(() -> counted(0, EngineCounter.MEMBER_HELD_BACK) > TimeUnit.MILLISECONDS.toNanos(200), "a time");
        assertTrue(publisher.stats().members().getFirst().heldBack().toMillis() > 200);
        slow.close();
    }
}
