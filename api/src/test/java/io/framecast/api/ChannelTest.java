package io.framecast.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.error.ConfigException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class ChannelTest {
    @Test
    void shouldReadEveryKey() {
        final Channel channel = Channel.parse("framecast:udp?group=224.20.30.39:24326|channel=cam1|interface=eth0"
                + "|mtu=9000|ttl=4|dscp=26|unicast-ports=40000-40015|socket-buffer=8m|rate=100m|window=64M|frame-max=128m|ring=1g|ring-max=2g|frames-held=5|device=cuda:1"
                + "|delivery=deadline=40ms|alive-timeout=2000|reorder=7"
                + "|one-sided=off|co-roots=12|feed=unicast|site=rack-3|serve=no|sources=3|rejoin=2500ms|join=keyframe|host-group=night|leaders=nic|attach-after=250ms"
                + "|placement=fastcopy|fastcopy-max=16k|fastcopy-read-max=4k|gather-max=128k|chunk=1m");
        assertEquals(
                new Channel.Multicast(
                        "udp",
                        new HostPort("224.20.30.39", 24326),
                        "cam1",
                        new LinkConfig(
                                "eth0",
                                9000,
                                4,
                                26,
                                8L << 20,
                                100L << 20,
                                false,
                                new PortRange(40_000, 40_015),
                                SecurityOptions.DEFAULT),
                        new StreamConfig(
                                64L << 20,
                                128L << 20,
                                1L << 30,
                                2L << 30,
                                5,
                                "cuda:1",
                                new Delivery.Deadline(40),
                                2000,
                                7,
                                new CoRootOptions(12, CoRootOptions.Feed.UNICAST, "rack-3", false),
                                new SourceOptions(
                                        3,
                                        2_500,
                                        SourceOptions.JoinAt.KEYFRAME,
                                        "night",
                                        SourceOptions.Leaders.NIC,
                                        250),
                                new PlacementOptions(
                                        PlacementOptions.Kind.FASTCOPY, 16 << 10, 4 << 10, 128 << 10, 1 << 20))),
                channel);
    }

    @Test
    void shouldNameTheNearestPlacementWhenOneIsUnknown() {
        final ConfigException e = assertThrows(
                ConfigException.class, () -> Channel.parse("framecast:auto?group=224.0.0.1:5|placement=stagd"));
        assertEquals(
                "channel URI: placement: expected auto or direct or fastcopy or loopback or shared or peer or staged,"
                        + " got stagd; nearest is staged",
                e.getMessage());
        for (final String bad : List.of(
                "attach-after=39ms",
                "attach-after=61s",
                "attach-after=1",
                "fastcopy-max=17m",
                "chunk=0",
                "chunk=2g",
                "chunk=some")) {
            assertThrows(ConfigException.class, () -> Channel.parse("framecast:auto?group=224.0.0.1:5|" + bad), bad);
        }
    }

    /// A value may be any text: what looks for a forgotten separator in it takes time in proportion to its
    /// length.
    @Test
    void shouldRefuseALongRunOfSeparatorsAtOnce() {
        final String uri = "framecast:auto?group=" + "#".repeat(200_000);
        assertTimeoutPreemptively(
                Duration.ofSeconds(60), () -> assertThrows(ConfigException.class, () -> Channel.parse(uri)));
    }

    @Test
    void shouldReadEachKindOfAddress() {
        final var multicast =
                assertInstanceOf(Channel.Multicast.class, Channel.parse("framecast:auto?group=[ff12::a]:24326"));
        assertEquals("ff12::a", multicast.group().host());
        final var fanout = assertInstanceOf(Channel.Fanout.class, Channel.parse("framecast:aeron?control=10.0.0.1:9"));
        assertEquals(new HostPort("10.0.0.1", 9), fanout.control());
        final var ipc = assertInstanceOf(Channel.Ipc.class, Channel.parse("framecast:aeron?ipc=/dev/shm/a b"));
        assertEquals(Path.of("/dev/shm/a b"), ipc.directory());
        for (final Channel channel : List.of(multicast, fanout, ipc)) {
            assertEquals("default", channel.name());
            assertEquals(LinkConfig.DEFAULT, channel.link());
            assertEquals(StreamConfig.DEFAULT, channel.stream());
        }
    }

    @Test
    void shouldWriteOnlyWhatDiffersFromDefaults() {
        final String text = "framecast:auto?group=224.20.30.39:24326|device=cuda:0";
        assertEquals(
                text, Channel.parse(text + "|reorder=3|channel=default|ttl=1").toString());
    }

    @Test
    void shouldReadWhatItWroteWhenChannelsAreRandom() {
        for (long seed = 0; seed < 2_000; seed++) {
            final Channel channel = random(new SplittableRandom(seed));
            final long replay = seed;
            assertEquals(channel, Channel.parse(channel.toString()), () -> "seed " + replay + ": " + channel);
            assertEquals(channel.toString(), Channel.parse(channel.toString()).toString());
        }
    }

    @Test
    void shouldGiveChannelOrOneLineWhenTextIsMutated() {
        int rejected = 0;
        for (long seed = 0; seed < 5_000; seed++) {
            final SplittableRandom random = new SplittableRandom(seed);
            final String text = mutate(random(random).toString(), random);
            try {
                final Channel channel = Channel.parse(text);
                assertEquals(channel, Channel.parse(channel.toString()), text);
            } catch (final ConfigException e) {
                rejected++;
                assertTrue(e.getMessage().startsWith("channel URI: "), e.getMessage());
            }
        }
        assertTrue(rejected > 1_000 && rejected < 5_000, "rejected " + rejected + " of 5000");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "grup=224.0.0.1:5; unknown key grup; nearest is group",
                "group=224.0.0.1:5|wndow=5; unknown key wndow; nearest is window",
                "group=224.0.0.1:5|Device=host; unknown key Device; nearest is device",
                "group=224.0.0.1:5|frame_max=5; unknown key frame_max; nearest is frame-max",
                "group=224.0.0.1:5|socketbuffer=5; unknown key socketbuffer; nearest is socket-buffer",
            })
    void shouldNameNearestKeyWhenKeyIsUnknown(final String query, final String complaint, final String nearest) {
        final String message = complaint("framecast:auto?" + query);
        assertTrue(message.contains(complaint + "; " + nearest), message);
    }

    @ParameterizedTest
    @CsvSource({
        "window=many, window: expected a number",
        "window=-1, window: expected a number",
        "window=9999999999g, window: expected less than 2^63 bytes",
        "window=12345678901234567890, window: expected a number",
        "frame-max=0, frame-max: expected 1",
        "frame-max=4294967296, frame-max: expected 1",
        "mtu=1.5, mtu: expected a number",
        "mtu=9k, mtu: expected a number",
        "mtu=575, mtu: expected",
        "mtu=4294967296, 'mtu: expected a number, 1280 … 65536 or 0'",
        "mtu=-1, 'mtu: expected a number, 1280 … 65536 or 0'",
        "ttl=x, 'ttl: expected a number, 0 … 255'",
        "window=64q, 'window: expected a number of bytes, such as 6220800, 64k, 16m or 1g'",
        "window=5&ttl=3, 'window: expected ''|'' between keys, got ''&'' before ttl='",
        "channel=cam1 ttl=3, 'channel: expected ''|'' between keys, got '' '' before ttl='",
        "window=5&tttl=3, 'window: expected ''|'' between keys, got ''&'' before tttl='",
        "channel=cam1ttl=3, 'channel: expected ''|'' between keys, got nothing before ttl='",
        "ttl=256, ttl: expected 0",
        "dscp=64, 'dscp: expected 0 … 63, got 64'",
        "dscp=AF31, 'dscp: expected a number, 0 … 63'",
        "socket-buffer=2147483648, socket-buffer: expected 0",
        "rate=999, 'rate: expected 1000 … 1000000000000 bytes per second or 0, got 999'",
        "rate=fast, rate: expected a number of bytes",
        "rate=1000000000001, rate: expected 1000",
        "ring=1024, 'ring: expected 0 for the smallest that works, or 4096 bytes at least, got 1024'",
        "ring-max=4095, 'ring-max: expected 0 for a quarter of what is available, or 4096 bytes at least, got 4095'",
        "frames-held=0, frames-held: expected 1",
        "alive-timeout=9, alive-timeout: expected 10",
        "reorder=10001, reorder: expected 0",
        "reorder=, reorder: expected a value",
        "device=GPU:0, 'device: expected auto, auto,KIND, KIND or KIND:N'",
        "delivery=sometimes, 'delivery: expected reliable, latest, deadline=T or evict=T with T such as 40ms or 2s, 1ms … 65535ms'",
        "delivery=deadline, delivery: expected reliable",
        "delivery=deadline=40, delivery: expected reliable",
        "delivery=deadline=0ms, delivery: expected reliable",
        "delivery=deadline=65536ms, delivery: expected reliable",
        "delivery=evict=66s, delivery: expected reliable",
        "delivery=evict=-1s, delivery: expected reliable",
        "delivery=latest=2s, delivery: expected reliable",
        "sources=0, 'sources: expected 1 … 64, got 0'",
        "sources=65, 'sources: expected 1 … 64, got 65'",
        "rejoin=10, 'rejoin: expected a time such as 10s or 1h, 0s … 86400s, got 10'",
        "rejoin=86401s, rejoin: expected a time",
        "join=middle, 'join: expected frame or keyframe, got middle'",
        "delivery=Latest, delivery: expected reliable",
        "delivery=latest&ttl=3, 'delivery: expected ''|'' between keys, got ''&'' before ttl='",
        "channel=a b, channel: expected 1",
        "ttl, expected key=value",
        "=5, expected key=value",
    })
    void shouldNameKeyAndExpectationWhenValueIsBad(final String part, final String complaint) {
        final String message = complaint("framecast:auto?group=224.0.0.1:5|" + part);
        assertTrue(message.contains(complaint), message);
        final int equals = part.indexOf('=');
        assertTrue(
                message.contains(equals < 0 || part.endsWith("=") ? part.replace("=", "") : part.substring(equals + 1)),
                message);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "framecast",
                "framecast:auto",
                "http://example.org?group=224.0.0.1:5",
                "framecast:auto?",
                "framecast:auto?channel=a",
                "framecast:auto?group=224.0.0.1:5|control=10.0.0.1:5",
                "framecast:auto?group=224.0.0.1:5|group=224.0.0.1:5",
                "framecast:auto?group=224.0.0.1:5|",
                "framecast:auto?group=10.0.0.1:5",
                "framecast:auto?group=[fe80::1]:5",
                "framecast:auto?group=ff12::a:5",
                "framecast:auto?group=224.0.0.1",
                "framecast:auto?group=224.0.0.1:65534",
                "framecast:auto?group=224.0.0.1:0",
                "framecast:auto?group=224.0.0.1:x",
                "framecast:auto?group=localhost:5",
                "framecast:auto?control=224.0.0.1.example.org:5",
            })
    void shouldRefuseWhatIsNoChannel(final String uri) {
        assertTrue(complaint(uri).startsWith("channel URI: "));
    }

    @Test
    void shouldLeaveNamesToProviders() {
        for (final String uri : List.of(
                "framecast:queue-test?group=224.0.0.1:5|device=test:0",
                "framecast:verb?group=224.0.0.1:5|device=auto,test")) {
            assertEquals(uri, Channel.parse(uri).toString());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Udp", "1udp", "queue_test", "udp ", "a23456789012345678901234567890123"})
    void shouldRefuseWhatNoTransportCanBeCalled(final String transport) {
        final String message = complaint("framecast:" + transport + "?group=224.0.0.1:5");
        assertTrue(message.contains("transport: expected auto or a provider's name"), message);
    }

    @Test
    void shouldLeaveRoomForThreeLanes() {
        assertEquals(
                "framecast:auto?group=224.0.0.1:65533",
                Channel.parse("framecast:auto?group=224.0.0.1:65533").toString());
    }

    @Test
    void shouldChangeOneThingWithWithers() {
        for (long seed = 0; seed < 100; seed++) {
            final Channel channel = random(new SplittableRandom(seed));
            final StreamConfig stream = channel.stream().withReorderDatagrams(4242);
            assertNotEquals(channel, channel.withStream(stream));
            assertEquals(channel, channel.withStream(stream).withStream(channel.stream()));
            assertEquals("aeron", channel.withTransport("aeron").transport());
            assertEquals(channel, channel.withTransport("aeron").withTransport(channel.transport()));
        }
    }

    private static String complaint(final String uri) {
        final String message =
                assertThrows(ConfigException.class, () -> Channel.parse(uri)).getMessage();
        assertFalse(message.contains("\n"), message);
        return message;
    }

    private static long ring(final SplittableRandom random) {
        return random.nextBoolean() ? 0 : random.nextLong(StreamConfig.RING_LEAST_BYTES, 1L << random.nextInt(13, 59));
    }

    private static Channel random(final SplittableRandom random) {
        final String transport = pick(random, "auto", "udp", "aeron", "verbs", "queue-test");
        final String name = pick(random, "default", "cam1", "A.b_c-9", "x".repeat(64));
        final LinkConfig link = new LinkConfig(
                pick(random, "", "eth0", "10.0.0.7", "veth-a.100"),
                random.nextBoolean() ? 0 : random.nextInt(LinkConfig.MTU_BYTES_MIN, LinkConfig.MTU_BYTES_MAX + 1),
                random.nextInt(256),
                random.nextInt(LinkConfig.DSCP_MAX + 1),
                random.nextLong(1L << 31),
                random.nextBoolean() ? 0 : random.nextLong(LinkConfig.RATE_BYTES_MIN, LinkConfig.RATE_BYTES_MAX + 1),
                random.nextBoolean(),
                random.nextBoolean() ? PortRange.ANY : new PortRange(random.nextInt(1024, 40_000), 40_000),
                SecurityOptions.DEFAULT);
        final StreamConfig stream = new StreamConfig(
                random.nextLong(1L << random.nextInt(1, 59)),
                random.nextLong(1, StreamConfig.FRAME_MAX_LIMIT),
                ring(random),
                ring(random),
                random.nextInt(1, 1025),
                pick(random, "auto", "host", "emulated", "emulated:3", "cuda:0", "cuda:127"),
                delivery(random),
                random.nextLong(10, 86_400_001),
                random.nextInt(10_001),
                coRoots(random),
                new SourceOptions(
                        random.nextInt(1, SourceOptions.COUNT_MAX + 1),
                        random.nextInt(2) * random.nextInt(SourceOptions.REJOIN_MAX_MS + 1),
                        SourceOptions.JoinAt.values()[random.nextInt(2)],
                        pick(random, "off", "auto", "workers-1"),
                        SourceOptions.Leaders.values()[random.nextInt(3)],
                        random.nextInt(SourceOptions.ATTACH_AFTER_MIN_MS, SourceOptions.ATTACH_AFTER_MAX_MS + 1)),
                new PlacementOptions(
                        PlacementOptions.Kind.values()[random.nextInt(5)],
                        random.nextLong(PlacementOptions.AUTO, PlacementOptions.FASTCOPY_MAX_LIMIT + 1),
                        random.nextLong(PlacementOptions.AUTO, PlacementOptions.FASTCOPY_MAX_LIMIT + 1),
                        random.nextLong(PlacementOptions.AUTO, PlacementOptions.GATHER_MAX_LIMIT + 1),
                        random.nextBoolean()
                                ? PlacementOptions.AUTO
                                : random.nextLong(1, PlacementOptions.CHUNK_MAX_LIMIT + 1)));
        return switch (random.nextInt(3)) {
            case 0 -> new Channel.Multicast(transport, group(random), name, link, stream);
            case 1 -> new Channel.Fanout(transport, new HostPort("10.1.2.3", port(random)), name, link, stream);
            default ->
                new Channel.Ipc(transport, Path.of(pick(random, "/dev/shm/a", "b/c", "/a=b")), name, link, stream);
        };
    }

    @ParameterizedTest
    @CsvSource({
        "reliable, reliable",
        "latest, latest",
        "deadline=40ms, deadline=40ms",
        "deadline=2000ms, deadline=2s",
        "evict=2s, evict=2s",
        "evict=65535ms, evict=65535ms"
    })
    void shouldReadDeliveryAndWriteItShort(final String text, final String written) {
        final Channel channel = Channel.parse("framecast:auto?group=224.0.0.1:5|delivery=" + text + "|reorder=4");
        assertEquals(written, channel.stream().delivery().toString());
        assertEquals(channel, Channel.parse(channel.toString()));
        assertEquals(channel.stream().delivery(), Delivery.parse(text));
    }

    private static CoRootOptions coRoots(final SplittableRandom random) {
        return new CoRootOptions(
                random.nextInt(-1, CoRootOptions.COUNT_MAX + 1),
                CoRootOptions.Feed.values()[random.nextInt(2)],
                pick(random, "", "host-1", "rack.7"),
                random.nextBoolean());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "co-roots=257; co-roots: expected auto or 0 … 256, got 257",
                "co-roots=some; co-roots: expected a number, 0 … 256 or auto, got some",
                "feed=tree; feed: expected multicast or unicast, got tree",
                "sets=block; 'sets: there is no such key any more; subscribers with one site= share a co-root, others are grouped as they join'",
                "serve=maybe; serve: expected yes or no, got maybe",
                "one-sided=on; one-sided: expected auto or off, got on",
                "site=a b; site: expected up to 64 of letters, digits, '.', '_', '-', got a b"
            })
    void shouldSayWhatIsExpectedOfCoRoots(final String part, final String complaint) {
        final ConfigException thrown =
                assertThrows(ConfigException.class, () -> Channel.parse("framecast:auto?group=224.0.0.1:5|" + part));
        assertEquals("channel URI: " + complaint, thrown.getMessage());
    }

    @Test
    void shouldReadAutoAsTheDefault() {
        assertEquals(
                CoRootOptions.AUTO,
                Channel.parse("framecast:auto?group=224.0.0.1:5|co-roots=auto").stream()
                        .coRoots()
                        .count());
    }

    private static Delivery delivery(final SplittableRandom random) {
        final int patienceMs =
                random.nextBoolean() ? 1000 * random.nextInt(1, 66) : random.nextInt(1, Delivery.PATIENCE_MAX_MS + 1);
        return switch (random.nextInt(4)) {
            case 0 -> Delivery.RELIABLE;
            case 1 -> Delivery.LATEST;
            case 2 -> new Delivery.Deadline(patienceMs);
            default -> new Delivery.Evict(patienceMs);
        };
    }

    private static HostPort group(final SplittableRandom random) {
        final String host = random.nextBoolean()
                ? random.nextInt(224, 240) + "." + random.nextInt(256) + ".0." + random.nextInt(256)
                : "ff1" + Integer.toHexString(random.nextInt(16)) + "::" + Integer.toHexString(random.nextInt(65_536));
        return new HostPort(host, port(random));
    }

    private static int port(final SplittableRandom random) {
        return random.nextInt(1, 65_534);
    }

    private static String pick(final SplittableRandom random, final String... choices) {
        return choices[random.nextInt(choices.length)];
    }

    /// One to three characters deleted, doubled or replaced.
    private static String mutate(final String text, final SplittableRandom random) {
        final StringBuilder mutated = new StringBuilder(text);
        for (int i = random.nextInt(3); i >= 0; i--) {
            final int at = random.nextInt(mutated.length());
            switch (random.nextInt(3)) {
                case 0 -> mutated.deleteCharAt(at);
                case 1 -> mutated.insert(at, mutated.charAt(at));
                default -> mutated.setCharAt(at, "|=?:.[]0k \u0000é".charAt(random.nextInt(12)));
            }
        }
        return mutated.toString();
    }
}
