package io.framecast.engine.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.UnixOperatingSystemMXBean;
import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.NodeConfig.Threading;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.api.spi.LaneKind;
import io.framecast.engine.metrics.CounterReader;
import io.framecast.engine.metrics.CounterSample;
import io.framecast.engine.metrics.EngineCounter;
import io.framecast.engine.node.TestNode;
import io.framecast.engine.testing.ScriptedTransport;
import io.framecast.engine.testing.SentDatagrams;
import io.framecast.engine.testing.StreamFixture;
import io.framecast.engine.udp.UdpTransportProvider;
import io.framecast.testing.FrameBytes;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A stream beside an [AuthFlood] to each of its lanes, at both ends, while the network loses datagrams: every
/// byte is right, no member leaves, the counters say what was dropped, and nothing grows.
abstract class HostileStream {
    private static final int FRAME_BYTES = 20_000;
    private static final int PER_CYCLE = 16;
    private static final double LOSS = 0.02;
    private static final long HEAP_GROWTH_MAX = 24L << 20;
    // The JVM's compilers take memory of the library as well.
    private static final long NATIVE_GROWTH_MAX = 48L << 20;
    private static final long LIMIT_NS = 400_000_000_000L;

    private final Path sourceCounters = StreamFixture.countersFile();
    private final Path sinkCounters = StreamFixture.countersFile();

    @TempDir
    private Path directory;

    private final boolean isProtected;

    HostileStream(final boolean isProtected) {
        this.isProtected = isProtected;
    }

    /// A port that receives, and what was sent to it.
    private static final class Target {
        private final LaneKind kind;
        private final InetSocketAddress address;
        private final boolean isSource;
        private long sent;

        Target(final LaneKind kind, final InetSocketAddress address, final boolean isSource) {
            this.kind = kind;
            this.address = address;
            this.isSource = isSource;
        }
    }

    @Test
    void shouldDeliverEveryByteUnderHostileDatagrams() throws IOException {
        run(20_000);
    }

    @Tag("campaign")
    @Test
    void shouldDeliverEveryByteUnderAMillionHostileDatagrams() throws IOException {
        // To each of five lanes.
        run(200_000);
    }

    private void run(final long perLane) throws IOException {
        final Path key = directory.resolve("key");
        Files.writeString(key, "one " + "5a".repeat(32) + "\n");
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
        final String auth = isProtected ? "|auth=psk:" + key : "";
        // The first use loads all classes.
        stream(auth, 2_000);
        final long heapBefore = heapBytes();
        final long nativeBefore = NativeMemory.bytes();
        final long filesBefore = openFiles();
        stream(auth, perLane);
        final long filesAfter = openFiles();
        assertTrue(filesAfter <= filesBefore + 2, () -> filesBefore + " open files before, now " + filesAfter);
        final long heapAfter = heapBytes();
        assertTrue(heapAfter < heapBefore + HEAP_GROWTH_MAX, () -> heapBefore + " bytes before, now " + heapAfter);
        awaitNativeBelow(nativeBefore + NATIVE_GROWTH_MAX);
    }

    // The compiler takes memory too, and gives it back when it has compiled.
    private static void awaitNativeBelow(final long limit) {
        final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        long bytes = NativeMemory.bytes();
        while (bytes >= limit && System.nanoTime() < endNs) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
            bytes = NativeMemory.bytes();
        }
        assertTrue(bytes < limit, bytes + " native bytes, the limit is " + limit);
    }

    private static Framecast node(final ScriptedTransport transport, final Path counters) {
        final NodeConfig config = NodeConfig.DEFAULT
                .withThreading(Threading.INVOKER)
                .withSeed(4)
                .withFaults(new NodeConfig.Faults(LOSS))
                .withCountersFile(counters);
        return TestNode.launch(config, transport);
    }

    private void stream(final String auth, final long perLane) throws IOException {
        final SentDatagrams sentBySource = new SentDatagrams();
        final SentDatagrams sentBySink = new SentDatagrams();
        final ScriptedTransport ofSource = new ScriptedTransport(new UdpTransportProvider()).copying(sentBySource);
        final ScriptedTransport ofSink = new ScriptedTransport(new UdpTransportProvider()).copying(sentBySink);
        final Channel channel =
                StreamFixture.channel("udp", "|mtu=1500|window=500k|frame-max=20000|device=host" + auth);
        try (Framecast source = node(ofSource, sourceCounters);
                Framecast sink = node(ofSink, sinkCounters);
                AuthFlood flood = new AuthFlood(sentBySource, sentBySink, !auth.isEmpty(), 7)) {
            final Subscriber subscriber = sink.subscribe(channel);
            final Publisher publisher = source.publish(channel);
            final Running running = new Running(source, sink, publisher, subscriber);
            running.until(() -> publisher.readySubscribers() == 1);
            running.until(() -> subscriber.state() == Subscriber.State.READY);
            final List<Target> targets = targets((Channel.Multicast) channel, ofSource, ofSink);
            while (targets.stream().anyMatch(target -> target.sent < perLane)) {
                for (final Target target : targets) {
                    for (int i = 0; i < PER_CYCLE && target.sent < perLane; i++) {
                        target.sent += flood.send(target.kind, target.address) ? 1 : 0;
                    }
                }
                running.cycle(true);
            }
            running.until(() -> running.polled == running.offered);
            assertEquals(1, publisher.readySubscribers());
            assertEquals(0, publisher.stats().evictedSubscribers());
            assertEquals(0, subscriber.stats().rejoins());
            if (!auth.isEmpty() && perLane >= 20_000) {
                assertTrue(flood.cookies() > 0 && flood.hellosHeard() > 0, "the flood was not answered at all");
                requireCounted(targets);
            }
            running.end();
        }
    }

    private static List<Target> targets(
            final Channel.Multicast channel, final ScriptedTransport source, final ScriptedTransport sink) {
        final InetAddress group = channel.group().address();
        final int port = channel.group().port();
        return List.of(
                new Target(LaneKind.DATA, new InetSocketAddress(group, port), false),
                new Target(LaneKind.REPAIR, unicast(sink, LaneKind.REPAIR), false),
                new Target(LaneKind.CONTROL, new InetSocketAddress(group, port + 2), false),
                new Target(LaneKind.CONTROL, unicast(sink, LaneKind.CONTROL), false),
                new Target(LaneKind.CONTROL, unicast(source, LaneKind.CONTROL), true));
    }

    private static InetSocketAddress unicast(final ScriptedTransport transport, final LaneKind kind) {
        final byte[] raw = transport.address(kind).toBytes();
        final int port = (raw[raw.length - 2] & 0xff) << 8 | (raw[raw.length - 1] & 0xff);
        return new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port);
    }

    /// Both nodes and their stream.
    private static final class Running {
        private final Framecast source;
        private final Framecast sink;
        private final Publisher publisher;
        private final Subscriber subscriber;
        private final long startNs = System.nanoTime();
        private MemorySegment next = frame(0);
        private int offered;
        private int polled;

        Running(final Framecast source, final Framecast sink, final Publisher publisher, final Subscriber subscriber) {
            this.source = source;
            this.sink = sink;
            this.publisher = publisher;
            this.subscriber = subscriber;
        }

        void cycle(final boolean offers) {
            source.doWork();
            sink.doWork();
            if (offers && publisher.offer(next, FrameOptions.DEFAULT) > 0) {
                next = frame(++offered);
            }
            subscriber.poll(frame -> check(frame, polled++), 10);
            assertTrue(
                    System.nanoTime() - startNs < LIMIT_NS,
                    () -> "no progress: " + offered + " " + polled + " " + subscriber.state() + subscriber.failure()
                            + subscriber.stats() + publisher.stats() + publisher.failure());
        }

        void until(final java.util.function.BooleanSupplier condition) {
            while (!condition.getAsBoolean()) {
                cycle(false);
            }
        }

        void end() {
            publisher.close();
            until(() -> subscriber.state() != Subscriber.State.READY);
            assertEquals(
                    Subscriber.State.END_OF_STREAM,
                    subscriber.state(),
                    () -> subscriber.failure() + " " + subscriber.stats() + publisher.stats() + publisher.failure()
                            + offered);
            assertEquals(offered, polled);
            assertTrue(offered >= 20, () -> "frames: " + offered);
            assertTrue(publisher.close(Duration.ZERO) || publisher.failure().isEmpty());
        }
    }

    private static MemorySegment frame(final int id) {
        return MemorySegment.ofArray(FrameBytes.of(id, FRAME_BYTES - id % 3_000));
    }

    private static void check(final DeviceFrame frame, final int id) {
        assertEquals(id, frame.frameId());
        final MemorySegment wanted = frame(id);
        assertEquals(wanted.byteSize(), frame.length());
        assertEquals(-1, frame.region().host().mismatch(wanted), () -> "frame " + id);
        frame.close();
    }

    private void requireCounted(final List<Target> targets) {
        final List<CounterSample> source = samples(sourceCounters);
        final List<CounterSample> sink = samples(sinkCounters);
        // Limits are of a time: whether a flood goes beyond depends on the machine.
        for (final String event : List.of("malformed", "plain", "no_key", "bad_tag", "replayed", "opened")) {
            requireSome(source, EngineCounter.PROTECTION, "event=\"" + event + "\"");
            requireSome(sink, EngineCounter.PROTECTION, "event=\"" + event + "\"");
        }
        for (final String event : List.of("bad_cookie", "bad_proof", "unknown_key")) {
            requireSome(source, EngineCounter.PROTECTION, "event=\"" + event + "\"");
        }
        requireSome(sink, EngineCounter.REJECTED, "reason=\"bad_tag\"");
        requireSome(sink, EngineCounter.DUPLICATES, "");
        requireMost(source, targets.stream().filter(target -> target.isSource).toList());
        requireMost(
                sink,
                targets.stream()
                        .filter(target -> !target.isSource && target.kind == LaneKind.CONTROL)
                        .toList());
    }

    // The socket loses some, and the injected loss.
    private static void requireMost(final List<CounterSample> samples, final List<Target> targets) {
        final long sent = targets.stream().mapToLong(target -> target.sent).sum();
        final long counted = samples.stream()
                .filter(sample -> sample.name().equals(EngineCounter.PROTECTION.exportedName()))
                .filter(sample -> !sample.labels().contains("sealed\"")
                        && !sample.labels().contains("opened"))
                .mapToLong(CounterSample::value)
                .sum();
        assertTrue(counted > sent * 3 / 4, () -> counted + " counted of " + sent + " in " + samples);
    }

    private static List<CounterSample> samples(final Path path) {
        try (CounterReader reader = CounterReader.open(path)) {
            return new ArrayList<>(reader.samples());
        }
    }

    private static void requireSome(final List<CounterSample> samples, final EngineCounter kind, final String label) {
        assertTrue(
                samples.stream()
                        .anyMatch(sample -> sample.name().equals(kind.exportedName())
                                && sample.labels().contains(label)
                                && sample.value() > 0),
                () -> kind + " " + label + " in " + samples);
    }

    private static long heapBytes() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    private static long openFiles() {
        return ((UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getOpenFileDescriptorCount();
    }
}
