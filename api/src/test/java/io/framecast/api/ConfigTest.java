package io.framecast.api;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Optional;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Limits of every record a user fills in: the last value taken and the first refused.
final class ConfigTest {
    private static final StreamConfig STREAM = StreamConfig.DEFAULT;

    @Test
    void shouldKeepStreamsWithinLimits() {
        takes("frame-max", STREAM::withFrameMaxBytes, 1, (1L << 32) - 1);
        takes("window", STREAM::withWindowBytes, 0, Long.MAX_VALUE);
        takes("ring", STREAM::withRingBytes, 0, Long.MAX_VALUE);
        takes("frames-held", value -> STREAM.withFramesHeld((int) value), 1, 1024);
        takes("alive-timeout", STREAM::withAliveTimeoutMs, 10, 86_400_000);
        takes("reorder", value -> STREAM.withReorderDatagrams((int) value), 0, 10_000);
    }

    private static LinkConfig marked(final int dscp) {
        return new LinkConfig("", 0, 1, dscp, 0, 0, true, PortRange.ANY, SecurityOptions.DEFAULT);
    }

    @Test
    void shouldKeepLinksWithinLimits() {
        takes("ttl", value -> new LinkConfig("", 0, (int) value, 0, 0), 0, 255);
        takes("dscp", value -> marked((int) value), 0, 63);
        assertEquals(104, marked(26).trafficClass());
        takes(
                "mtu",
                value -> new LinkConfig("", (int) value, 1, 0, 0),
                LinkConfig.MTU_BYTES_MIN,
                LinkConfig.MTU_BYTES_MAX);
        takes("socket-buffer", value -> new LinkConfig("", 0, 1, value, 0), 0, Integer.MAX_VALUE);
        takes(
                "rate",
                value -> new LinkConfig("", 0, 1, 0, value),
                LinkConfig.RATE_BYTES_MIN,
                LinkConfig.RATE_BYTES_MAX);
        assertEquals(0, new LinkConfig("", 0, 1, 0, 0).mtuBytes());
        assertEquals(0, new LinkConfig("", 0, 1, 0, 0).rateBytes());
    }

    @Test
    void shouldKeepNodesWithinLimits() {
        takes("metrics-port", value -> NodeConfig.DEFAULT.withMetricsPort((int) value), -1, 65_535);
        for (final double probability : new double[] {0, 0.02, Math.nextDown(1.0)}) {
            assertEquals(probability, new NodeConfig.Faults(probability).lossProbability());
        }
        for (final double probability : new double[] {-0.01, 1, 2, Double.NaN}) {
            refused("loss", () -> new NodeConfig.Faults(probability));
        }
    }

    @Test
    void shouldChangeOneSettingOfNodes() {
        final NodeConfig node = NodeConfig.DEFAULT
                .withThreading(NodeConfig.Threading.INVOKER)
                .withCountersFile(Path.of("/tmp/c"))
                .withMetricsPort(9)
                .withFaults(new NodeConfig.Faults(0.5))
                .withSeed(7);
        assertEquals(
                new NodeConfig(
                        NodeConfig.Threading.INVOKER,
                        Optional.of(Path.of("/tmp/c")),
                        new NodeConfig.Metrics("localhost", 9),
                        new NodeConfig.Faults(0.5),
                        7,
                        NodeConfig.DEFAULT.notices()),
                node);
    }

    @Test
    void shouldChangeOneSettingOfStreams() {
        final StreamConfig stream = STREAM.withWindowBytes(1)
                .withFrameMaxBytes(2)
                .withRingBytes(4096)
                .withRingMaxBytes(4097)
                .withFramesHeld(4)
                .withDevice("host")
                .withDelivery(Delivery.LATEST)
                .withAliveTimeoutMs(500)
                .withReorderDatagrams(6)
                .withCoRoots(CoRootOptions.DEFAULT
                        .withCount(3)
                        .withFeed(CoRootOptions.Feed.UNICAST)
                        .withSite("x")
                        .withServes(false))
                .withSources(SourceOptions.DEFAULT
                        .withCount(2)
                        .withRejoinMs(9)
                        .withJoinAt(SourceOptions.JoinAt.KEYFRAME)
                        .withHostGroup("auto")
                        .withLeaders(SourceOptions.Leaders.SOCKET)
                        .withAttachAfterMs(300))
                .withPlacement(PlacementOptions.DEFAULT
                        .withKind(PlacementOptions.Kind.STAGED)
                        .withFastcopyMaxBytes(8)
                        .withFastcopyReadMaxBytes(10)
                        .withGatherMaxBytes(11)
                        .withChunkBytes(9));
        final PlacementOptions placement = new PlacementOptions(PlacementOptions.Kind.STAGED, 8, 10, 11, 9);
        final CoRootOptions coRoots = new CoRootOptions(3, CoRootOptions.Feed.UNICAST, "x", false);
        final SourceOptions sources =
                new SourceOptions(2, 9, SourceOptions.JoinAt.KEYFRAME, "auto", SourceOptions.Leaders.SOCKET, 300);
        assertEquals(
                new StreamConfig(1, 2, 4096, 4097, 4, "host", Delivery.LATEST, 500, 6, coRoots, sources, placement),
                stream);
    }

    @ParameterizedTest
    @CsvSource({
        "mtu=1500, 0",
        "delivery=latest, 3600000",
        "delivery=latest|rejoin=auto, 3600000",
        "delivery=latest|rejoin=0s, 0",
        "delivery=latest|rejoin=5m, 300000",
        "delivery=deadline=40ms, 0",
        "delivery=evict=2s, 0",
        "delivery=evict=2s|rejoin=2h, 7200000",
        "rejoin=250ms, 250"
    })
    void shouldWaitForLostSourceUnderLatestOrWhenToldTo(final String keys, final int rejoinMs) {
        final Channel channel = Channel.parse("framecast:udp?group=224.20.30.39:24326|" + keys);
        assertEquals(rejoinMs, channel.stream().rejoinMs());
        assertEquals(channel, Channel.parse(channel.toString()));
    }

    @Test
    void shouldCountLossesByReasonAndInAll() {
        final LossCounts counts = new LossCounts(1, 2, 4, 8, 16, 32);
        assertEquals(63, counts.total());
        long sum = 0;
        for (final LossReason reason : LossReason.values()) {
            assertEquals(1L << reason.ordinal(), counts.of(reason));
            sum += counts.of(reason);
        }
        assertEquals(counts.total(), sum);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"0", "0-5", "1023-2000", "2000-1999", "40000-65536", "x", "40000-", "-1", "40000-40015-3", ""})
    void shouldRefuseRangesOfPortsThatCannotBe(final String text) {
        assertTrue(assertThrows(IllegalArgumentException.class, () -> PortRange.parse(text))
                .getMessage()
                .startsWith("unicast-ports: expected "));
    }

    @ParameterizedTest
    @ValueSource(strings = {"any", "1024", "65535", "40000-40015"})
    void shouldWriteRangesOfPortsAsTheyAreRead(final String text) {
        assertEquals(text, PortRange.parse(text).toString());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, 65_536})
    void shouldRefuseImpossiblePatience(final int ms) {
        assertThrows(IllegalArgumentException.class, () -> new Delivery.Deadline(ms));
        assertThrows(IllegalArgumentException.class, () -> new Delivery.Evict(ms));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "auto",
                "auto,emulated",
                "host",
                "emulated",
                "emulated:0",
                "emulated:999",
                "emulated:0?peermem",
                "emulated?peermem",
                "cuda:0",
                "cuda:15",
                "test",
                "my-gpu2:7"
            })
    void shouldTakeDevices(final String device) {
        assertEquals(device, STREAM.withDevice(device).device());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "cuda:",
                "cuda:-1",
                "cuda:1000",
                "cuda:1?",
                "cuda:1?a=b",
                "auto?peermem",
                "CUDA:0",
                " auto",
                "auto\n",
                "auto,",
                "auto,cuda:0",
                "host,emulated",
                "-test",
                "2gpu"
            })
    void shouldRefuseWhatIsNoDevice(final String device) {
        refused("device", () -> STREAM.withDevice(device));
    }

    @Test
    void shouldLimitMetadata() {
        final byte[] longest = new byte[FrameOptions.METADATA_BYTES_MAX];
        assertArrayEquals(longest, FrameOptions.DEFAULT.withMetadata(longest).metadata());
        refused("metadata", () -> FrameOptions.DEFAULT.withMetadata(new byte[FrameOptions.METADATA_BYTES_MAX + 1]));
    }

    @Test
    void shouldChangeOneOptionOfFrames() {
        assertFalse(FrameOptions.DEFAULT.keyframe());
        assertTrue(FrameOptions.KEYFRAME.keyframe());
        assertEquals(FrameOptions.NOW, FrameOptions.DEFAULT.sourceTimestampNs());
        final byte[] metadata = {1, 2};
        final FrameOptions options =
                FrameOptions.DEFAULT.withKeyframe(true).withSourceTimestampNs(5).withMetadata(metadata);
        assertTrue(options.keyframe());
        assertEquals(5, options.sourceTimestampNs());
        assertArrayEquals(metadata, options.metadata());
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "6220800, 6220800",
        "64k, 65536",
        "16M, 16777216",
        "1g, 1073741824",
        "8589934591g, 9223372035781033984"
    })
    void shouldReadByteCounts(final String text, final long bytes) {
        assertEquals(bytes, ByteSize.parse("window", text));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "k", "-1", "+1", "1.5m", "1 k", "1kb", "0x10", "8589934592g", "9999999999999999999", "١"})
    void shouldRefuseWhatIsNoByteCount(final String text) {
        refused("window", () -> ByteSize.parse("window", text));
    }

    @ParameterizedTest
    @CsvSource({
        "1.2.3.4:5, 1.2.3.4, 5, false",
        "224.0.0.1:65535, 224.0.0.1, 65535, true",
        "239.255.255.255:1, 239.255.255.255, 1, true",
        "240.0.0.1:1, 240.0.0.1, 1, false",
        "[ff12::a]:5, ff12::a, 5, true",
        "[::1]:5, ::1, 5, false",
    })
    void shouldReadAddresses(final String text, final String host, final int port, final boolean multicast) {
        final HostPort address = HostPort.parse(text);
        assertEquals(new HostPort(host, port), address);
        assertEquals(multicast, address.isMulticast());
        assertEquals(text, address.toString());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ":",
                ":5",
                "1.2.3.4",
                "1.2.3.4:",
                "1.2.3.4:0",
                "1.2.3.4:65536",
                "1.2.3.4:-1",
                "1.2.3.4:5x",
                "::1:5",
                "[::1]",
                "[::1:5",
                "localhost:5",
                "example.org:80",
                "1.2.3:x",
                "256.0.0.1:5",
                "[1::2::3]:5",
                "1.2.3.4:99999999999"
            })
    void shouldRefuseWhatIsNoAddress(final String text) {
        refused("expected", () -> HostPort.parse(text));
    }

    /// Both ends are taken; one beyond either is refused in one line that names the key. A limit at the
    /// type's own end has nothing beyond it.
    private static void takes(final String key, final LongFunction<?> make, final long min, final long max) {
        assertEquals(make.apply(min), make.apply(min));
        assertEquals(make.apply(max), make.apply(max));
        refused(key, () -> make.apply(min - 1));
        if (max != Long.MAX_VALUE && max != Integer.MAX_VALUE) {
            refused(key, () -> make.apply(max + 1));
        }
    }

    private static void refused(final String named, final Executable make) {
        final String message =
                assertThrows(IllegalArgumentException.class, make).getMessage();
        assertTrue(message.contains(named) && message.contains("expected") && message.contains("got"), message);
    }
}
