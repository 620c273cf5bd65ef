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
import io.framecast.api.provider.TransportProvider;
import io.framecast.api.spi.LaneAddress;
import io.framecast.engine.aeron.AeronTransportProvider;
import io.framecast.engine.metrics.CounterReader;
import io.framecast.engine.metrics.CounterSample;
import io.framecast.engine.node.TestNode;
import io.framecast.engine.testing.StreamFixture;
import io.framecast.engine.udp.UdpTransportProvider;
import io.framecast.testing.FrameBytes;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// A stream under attack: garbage from its own peers' addresses, on every lane, to the group and to each peer,
/// and from strangers. Every byte is checked, the stream ends normally, each kind of garbage is counted, nothing
/// leaks.
class GarbageTest {
    private static final int FRAME_BYTES = 60_000;
    private static final long HEAP_GROWTH_MAX = 24L << 20;

    private final Path sourceCounters = StreamFixture.countersFile();
    private final Path sinkCounters = StreamFixture.countersFile();

    @Tag("campaign")
    @Test
    void shouldDeliverEveryByteUnderAMillionHostileDatagramsOnUdp() throws IOException {
        run(new UdpTransportProvider(), 1_000_000, 40);
    }

    @Test
    void shouldDeliverEveryByteUnderHostileDatagramsOnAeron() throws IOException {
        run(new AeronTransportProvider(), 200_000, 10);
    }

    private void run(final TransportProvider real, final long wanted, final int perCycle) throws IOException {
        // The first use loads all classes.
        stream(real, 100, 4);
        final long heapBefore = heapBytes();
        final long filesBefore = openFiles();
        stream(real, wanted, perCycle);
        final long filesAfter = openFiles();
        assertTrue(filesAfter <= filesBefore + 2, () -> filesBefore + " open files before, now " + filesAfter);
        final long heapAfter = heapBytes();
        assertTrue(heapAfter < heapBefore + HEAP_GROWTH_MAX, () -> heapBefore + " bytes before, now " + heapAfter);
    }

    private static Framecast node(final GarbageFlood flood, final Path counters) {
        final NodeConfig config =
                NodeConfig.DEFAULT.withThreading(Threading.INVOKER).withSeed(4).withCountersFile(counters);
        return TestNode.launch(config, flood.transport());
    }

    private void stream(final TransportProvider real, final long wanted, final int perCycle) throws IOException {
        final GarbageFlood fromSource = new GarbageFlood(real, 1);
        final GarbageFlood fromSink = new GarbageFlood(real, 2);
        final Channel channel = StreamFixture.channel(real.name(), "|mtu=1500|window=500k|frame-max=60000|device=host");
        try (Framecast source = node(fromSource, sourceCounters);
                Framecast sink = node(fromSink, sinkCounters);
                Strangers strangers = new Strangers((Channel.Multicast) channel, "udp".equals(real.name()))) {
            final Subscriber subscriber = sink.subscribe(channel);
            final Publisher publisher = source.publish(channel);
            final List<LaneAddress> targets = new ArrayList<>();
            int offered = 0;
            final int[] polled = new int[1];
            MemorySegment next = frame(0);
            final long startNs = System.nanoTime();
            boolean flooding = true;
            while (flooding || polled[0] < offered) {
                source.doWork();
                sink.doWork();
                if (flooding) {
                    fromSource.flood(perCycle);
                    fromSink.flood(perCycle);
                    targets.clear();
                    targets.addAll(fromSource.addresses());
                    targets.addAll(fromSink.addresses());
                    strangers.send(targets);
                    if (publisher.offer(next, FrameOptions.DEFAULT) > 0) {
                        next = frame(++offered);
                    }
                }
                subscriber.poll(frame -> check(frame, polled[0]++), 10);
                flooding = fromSource.sent() + fromSink.sent() < wanted || offered < 20;
                final int taken = offered;
                assertTrue(
                        System.nanoTime() - startNs < 240_000_000_000L,
                        () -> "no progress: " + taken + " " + polled[0] + " " + fromSource.sent() + " "
                                + fromSink.sent() + " " + subscriber.state() + subscriber.failure()
                                + subscriber.stats() + publisher.stats() + publisher.failure());
            }
            assertTrue(publisher.failure().isEmpty(), () -> "" + publisher.failure());
            if (wanted >= 100_000) {
                requireCounted(real.name());
            }
            end(publisher, subscriber, source, sink);
            assertEquals(offered, polled[0]);
            assertEquals(offered, subscriber.stats().frames());
            assertEquals(0, publisher.stats().evictedSubscribers());
        }
    }

    private static void end(
            final Publisher publisher, final Subscriber subscriber, final Framecast source, final Framecast sink) {
        publisher.close();
        for (int i = 0; i < 10_000_000 && subscriber.state() == Subscriber.State.READY; i++) {
            source.doWork();
            sink.doWork();
        }
        assertEquals(Subscriber.State.END_OF_STREAM, subscriber.state(), () -> "" + subscriber.failure());
        assertTrue(publisher.close(Duration.ZERO) || publisher.failure().isEmpty());
    }

    private void requireCounted(final String transport) {
        final List<CounterSample> sink = samples(sinkCounters);
        final List<CounterSample> source = samples(sourceCounters);
        for (final String reason : List.of(
                "bad_length",
                "bad_version",
                "bad_type",
                "bad_checksum",
                "wrong_session",
                "unknown_member",
                "impossible")) {
            requireSome(sink, "framecast_rejected_datagrams_total", "reason=\"" + reason + "\"");
            requireSome(source, "framecast_rejected_datagrams_total", "reason=\"" + reason + "\"");
        }
        requireSome(sink, "framecast_duplicate_datagrams_total", "");
        for (final String lane : List.of("data", "repair")) {
            requireSome(sink, "framecast_receive_truncated_total", "lane=\"" + lane + "\"");
        }
        if ("udp".equals(transport)) {
            requireSome(sink, "framecast_receive_malformed_total", "lane=\"repair\"");
        }
    }

    private static List<CounterSample> samples(final Path path) {
        try (CounterReader reader = CounterReader.open(path)) {
            return reader.samples();
        }
    }

    private static void requireSome(final List<CounterSample> samples, final String name, final String label) {
        assertTrue(
                samples.stream()
                        .anyMatch(sample ->
                                sample.name().equals(name) && sample.labels().contains(label) && sample.value() > 0),
                () -> name + " " + label + " in " + samples);
    }

    private MemorySegment frame(final int id) {
        return MemorySegment.ofArray(FrameBytes.of(id, FRAME_BYTES - id % 3_000));
    }

    private void check(final DeviceFrame frame, final int id) {
        assertEquals(id, frame.frameId());
        final MemorySegment wanted = frame(id);
        assertEquals(wanted.byteSize(), frame.length());
        final long mismatch = frame.region().host().mismatch(wanted);
        assertEquals(
                -1,
                mismatch,
                () -> "frame " + id + " at " + mismatch + ": "
                        + frame.region().host().get(ValueLayout.JAVA_BYTE, mismatch));
        frame.close();
    }

    private static long heapBytes() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    private static long openFiles() {
        return ((UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getOpenFileDescriptorCount();
    }

    /// Noise from an unknown socket, to all ports of the group and to every unicast port of UDP lanes.
    private static final class Strangers implements AutoCloseable {
        private static final int BYTES_MAX = 2_000;

        private final DatagramChannel socket;
        private final Channel.Multicast channel;
        private final boolean unicast;
        private final Random random = new Random(8);
        private final byte[] bytes = new byte[BYTES_MAX];

        Strangers(final Channel.Multicast channel, final boolean unicast) throws IOException {
            this.channel = channel;
            this.unicast = unicast;
            socket = DatagramChannel.open(StandardProtocolFamily.INET);
            socket.configureBlocking(false);
            socket.setOption(
                    StandardSocketOptions.IP_MULTICAST_IF,
                    NetworkInterface.getByInetAddress(InetAddress.ofLiteral("127.0.0.1")));
        }

        void send(final List<LaneAddress> lanes) throws IOException {
            for (int lane = 0; lane < 3; lane++) {
                send(new InetSocketAddress(
                        channel.group().address(), channel.group().port() + lane));
            }
            for (final LaneAddress address : unicast ? lanes : List.<LaneAddress>of()) {
                final byte[] raw = address.toBytes();
                final int port = (raw[raw.length - 2] & 0xff) << 8 | (raw[raw.length - 1] & 0xff);
                send(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port));
            }
        }

        private void send(final InetSocketAddress to) throws IOException {
            random.nextBytes(bytes);
            socket.send(ByteBuffer.wrap(bytes, 0, 1 + random.nextInt(BYTES_MAX)), to);
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
