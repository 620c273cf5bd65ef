package io.framecast.engine.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.NodeConfig.Threading;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.api.spi.LaneKind;
import io.framecast.engine.auth.TestKeys;
import io.framecast.engine.metrics.CounterReader;
import io.framecast.engine.metrics.EngineCounter;
import io.framecast.engine.node.TestNode;
import io.framecast.engine.testing.ScriptedTransport;
import io.framecast.engine.testing.SentDatagrams;
import io.framecast.engine.testing.StreamFixture;
import io.framecast.engine.udp.UdpTransportProvider;
import io.framecast.testing.FrameBytes;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A stranger hears a stream with `auth=`, and answers each datagram that its subscriber may have lost before the
/// source can: with the heard header, its tag and a payload of its own, on the repair port.
final class HeardHeaderTest {
    private static final long LIMIT_NS = 60_000_000_000L;
    private static final int HEADER_BYTES = 64;
    private static final int FRAME_BYTES = 20_000;
    private static final int FRAMES = 100;
    private static final double LOSS = 0.1;

    private final Path counters = StreamFixture.countersFile();
    private int altered;

    private static Framecast node(final ScriptedTransport transport, final NodeConfig config) {
        return TestNode.launch(config.withThreading(Threading.INVOKER).withSeed(3), transport);
    }

    private static InetSocketAddress repairPort(final ScriptedTransport sink) {
        final byte[] raw = sink.address(LaneKind.REPAIR).toBytes();
        return new InetSocketAddress(
                InetAddress.ofLiteral("127.0.0.1"), (raw[raw.length - 2] & 0xff) << 8 | (raw[raw.length - 1] & 0xff));
    }

    private void stream(final String security, final boolean isRejected) throws IOException {
        final SentDatagrams heard = new SentDatagrams();
        final ScriptedTransport ofSource = new ScriptedTransport(new UdpTransportProvider()).copying(heard);
        final ScriptedTransport ofSink = new ScriptedTransport(new UdpTransportProvider());
        final Channel channel =
                StreamFixture.channel("udp", "|mtu=1500|window=500k|frame-max=20000|device=host" + security);
        try (Framecast source = node(ofSource, NodeConfig.DEFAULT);
                Framecast sink = node(
                        ofSink,
                        NodeConfig.DEFAULT
                                .withFaults(new NodeConfig.Faults(LOSS))
                                .withCountersFile(counters));
                DatagramChannel stranger = DatagramChannel.open()) {
            stranger.bind(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0));
            final Subscriber subscriber = sink.subscribe(channel);
            final Publisher publisher = source.publish(channel);
            final long startNs = System.nanoTime();
            int offered = 0;
            int polled = 0;
            while (polled < FRAMES || (isRejected && !isCounted())) {
                assertTrue(System.nanoTime() - startNs < LIMIT_NS, () -> subscriber.state() + " " + subscriber.stats());
                if (publisher.readySubscribers() == 1
                        && offered < FRAMES
                        && publisher.offer(
                                        MemorySegment.ofArray(FrameBytes.of(offered, FRAME_BYTES)),
                                        FrameOptions.DEFAULT)
                                > 0) {
                    offered++;
                }
                source.doWork();
                if (publisher.readySubscribers() == 1) {
                    for (final byte[] datagram : heard.latest(LaneKind.DATA)) {
                        answer(stranger, datagram, repairPort(ofSink));
                    }
                }
                sink.doWork();
                final int first = polled;
                polled += subscriber.poll(
                        frame -> {
                            final MemorySegment wanted =
                                    MemorySegment.ofArray(FrameBytes.of((int) frame.frameId(), FRAME_BYTES));
                            altered += frame.region().host().mismatch(wanted) == -1 ? 0 : 1;
                            frame.close();
                        },
                        FRAMES - first);
            }
        }
    }

    // Once all frames are polled nothing more is rejected, and counters come now and then.
    private boolean isCounted() {
        try (CounterReader reader = CounterReader.open(counters)) {
            return reader.samples().stream()
                    .anyMatch(sample -> sample.name().equals(EngineCounter.REJECTED.exportedName())
                            && sample.labels().contains("reason=\"bad_tag\"")
                            && sample.value() > 0);
        }
    }

    private static void answer(final DatagramChannel stranger, final byte[] heard, final InetSocketAddress to)
            throws IOException {
        for (int i = HEADER_BYTES; i < heard.length; i++) {
            heard[i] ^= (byte) 0x5a;
        }
        stranger.send(ByteBuffer.wrap(heard), to);
    }

    @ParameterizedTest
    @ValueSource(strings = {"auth", "cipher"})
    void shouldTakeNoPayloadOfAStranger(final String seal) throws IOException {
        stream(TestKeys.options(seal), true);
        assertEquals(0, altered);
    }

    /// As SECURITY.md says of it; else the test above would show nothing.
    @Test
    void shouldTakePayloadsOfAStrangerWhereTheyAreUnprotected() throws IOException {
        stream(TestKeys.options("unprotected"), false);
        assertTrue(altered > 0);
    }
}
