package io.framecast.api;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The keys of a channel URI. Exactly one of GROUP, CONTROL and IPC is given.
public enum ChannelKey {
    /// Multicast group and port: `224.20.30.39:24326`, `[ff12::a]:24326`.
    GROUP("group"),
    /// The source's address for unicast fan-out: `10.0.0.1:24326`.
    CONTROL("control"),
    /// Media driver directory for shared memory.
    IPC("ipc"),
    /// Stream name; `default` when absent.
    CHANNEL("channel"),
    /// See [LinkConfig#networkInterface].
    INTERFACE("interface"),
    /// See [LinkConfig#mtuBytes].
    MTU("mtu"),
    /// See [LinkConfig#ttl].
    TTL("ttl"),
    /// See [LinkConfig#dscp]. Each end's own.
    DSCP("dscp"),
    /// See [LinkConfig#socketBufferBytes].
    SOCKET_BUFFER("socket-buffer"),
    /// See [LinkConfig#rateBytes].
    RATE("rate"),
    /// See [LinkConfig#oneSided]: `auto` or `off`. Each end's own.
    ONE_SIDED("one-sided"),
    /// See [LinkConfig#unicastPorts]: `40000-40015`, or `any`. Each end's own.
    UNICAST_PORTS("unicast-ports"),
    /// See [SecurityOptions#auth]: `psk:FILE` or `keys:PATH`.
    AUTH("auth"),
    /// See [SecurityOptions#cipher]: `auto`, `aes-gcm` or `chacha20-poly1305`; `none` without `auth=`.
    CIPHER("cipher"),
    /// See [SecurityOptions#payloads]: `unprotected`, at both ends or at neither.
    PAYLOADS("payloads"),
    /// See [SecurityOptions#rekeyMs]: `10m`, `1h`. A publisher's.
    REKEY("rekey"),
    /// See [StreamConfig#windowBytes].
    WINDOW("window"),
    /// See [StreamConfig#frameMaxBytes].
    FRAME_MAX("frame-max"),
    /// See [StreamConfig#ringBytes].
    RING("ring"),
    /// See [StreamConfig#ringMaxBytes].
    RING_MAX("ring-max"),
    /// See [StreamConfig#framesHeld].
    FRAMES_HELD("frames-held"),
    /// See [StreamConfig#device].
    DEVICE("device"),
    /// See [Delivery]: `reliable`, `latest`, `deadline=40ms`, `evict=2s`. A subscriber's own choice.
    DELIVERY("delivery"),
    /// See [StreamConfig#aliveTimeoutMs]; milliseconds.
    ALIVE_TIMEOUT("alive-timeout"),
    /// See [StreamConfig#reorderDatagrams].
    REORDER("reorder"),
    /// See [CoRootOptions#count]: `auto` or a number. A publisher's.
    CO_ROOTS("co-roots"),
    /// See [CoRootOptions#feed]: `multicast` or `unicast`. A publisher's.
    FEED("feed"),
    /// See [CoRootOptions#sets]: `site` or `block`. A publisher's.
    SETS("sets"),
    /// See [CoRootOptions#site]. A subscriber's.
    SITE("site"),
    /// See [CoRootOptions#serves]: `yes` or `no`. A subscriber's.
    SERVE("serve"),
    /// See [SourceOptions#count]. A subscriber's.
    SOURCES("sources"),
    /// See [SourceOptions#rejoinMs]: `auto`, `10s`, `1h`. A subscriber's.
    REJOIN("rejoin"),
    /// See [SourceOptions#joinAt]: `frame` or `keyframe`. A subscriber's.
    JOIN("join"),
    /// See [SourceOptions#hostGroup]: `off`, `auto` or a name. A subscriber's.
    HOST_GROUP("host-group"),
    /// See [SourceOptions#leaders]: `host`, `socket` or `nic`. A subscriber's.
    LEADERS("leaders"),
    /// See [SourceOptions#attachAfterMs]: `1s`, `200ms`. A subscriber's.
    ATTACH_AFTER("attach-after"),
    /// See [PlacementOptions#kind]: `auto`, `direct`, `fastcopy`, `loopback` or `staged`. A subscriber's.
    PLACEMENT("placement"),
    /// See [PlacementOptions#fastcopyMaxBytes]: `auto` or bytes.
    FASTCOPY_MAX("fastcopy-max"),
    /// See [PlacementOptions#fastcopyReadMaxBytes]: `auto` or bytes. A publisher's.
    FASTCOPY_READ_MAX("fastcopy-read-max"),
    /// See [PlacementOptions#gatherMaxBytes]: `auto` or bytes. A publisher's.
    GATHER_MAX("gather-max"),
    /// See [PlacementOptions#chunkBytes]: `auto` or bytes, the length of a piece and no threshold. A
    /// publisher's.
    CHUNK("chunk");

    static final String DEFAULT_NAME = "default";

    private static final String PROVIDER_NAME = "[a-z][a-z0-9-]{0,31}";
    private static final Pattern PROVIDER = Pattern.compile(PROVIDER_NAME);
    private static final Pattern DEVICE_NAME = Pattern.compile(
            "auto(," + PROVIDER_NAME + ")?|(?!auto\\?)" + PROVIDER_NAME + "(:\\d{1,3})?(\\?[a-z][a-z0-9-]{0,31})?");
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,64}");

    private final String key;

    ChannelKey(final String key) {
        this.key = key;
    }

    /// The key as written in a URI.
    public String key() {
        return key;
    }

    static @Nullable ChannelKey find(final String text) {
        for (final ChannelKey candidate : values()) {
            if (candidate.key.equals(text)) {
                return candidate;
            }
        }
        return null;
    }

    static void requireTransport(final String transport) {
        if (!PROVIDER.matcher(transport).matches()) {
            throw new IllegalArgumentException("transport: expected auto or a provider's name (1 … 32 of a-z, 0-9, '-',"
                    + " a letter first), got " + transport);
        }
    }

    static void requireDevice(final String device) {
        if (!DEVICE_NAME.matcher(device).matches()) {
            throw new IllegalArgumentException("device: expected auto, auto,KIND, KIND or KIND:N with a provider's name"
                    + " (1 … 32 of a-z, 0-9, '-', a letter first) for KIND and 0 … 999 for N, and ?MODE behind it where"
                    + " the provider has modes, got " + device);
        }
    }

    static void requireName(final String name) {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException(
                    "channel: expected 1 … 64 of letters, digits, '.', '_', '-', got " + name);
        }
    }

    static void requireHostGroup(final String name) {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException(
                    "host-group: expected off, auto or 1 … 64 of letters, digits, '.', '_', '-', got " + name);
        }
    }

    static List<String> keys() {
        return Arrays.stream(values()).map(ChannelKey::key).toList();
    }

    /// Writes what differs from the defaults, in declaration order, so that equal channels give equal text.
    static String format(final Channel channel, final ChannelKey addressKey, final String address) {
        final LinkConfig link = channel.link();
        final StreamConfig stream = channel.stream();
        final List<String> parts = new ArrayList<>();
        add(parts, addressKey, address, "");
        add(parts, CHANNEL, channel.name(), DEFAULT_NAME);
        add(parts, INTERFACE, link.networkInterface(), LinkConfig.DEFAULT.networkInterface());
        add(parts, MTU, link.mtuBytes(), LinkConfig.DEFAULT.mtuBytes());
        add(parts, TTL, link.ttl(), LinkConfig.DEFAULT.ttl());
        add(parts, DSCP, link.dscp(), LinkConfig.DEFAULT.dscp());
        add(parts, SOCKET_BUFFER, link.socketBufferBytes(), LinkConfig.DEFAULT.socketBufferBytes());
        add(parts, RATE, link.rateBytes(), LinkConfig.DEFAULT.rateBytes());
        add(parts, ONE_SIDED, link.oneSided() ? "auto" : "off", LinkConfig.DEFAULT.oneSided() ? "auto" : "off");
        add(parts, UNICAST_PORTS, link.unicastPorts(), LinkConfig.DEFAULT.unicastPorts());
        add(parts, AUTH, link.security().auth(), SecurityOptions.DEFAULT.auth());
        add(
                parts,
                CIPHER,
                link.security().cipher().word(),
                SecurityOptions.DEFAULT.cipher().word());
        add(
                parts,
                PAYLOADS,
                link.security().payloads().word(),
                SecurityOptions.DEFAULT.payloads().word());
        add(
                parts,
                REKEY,
                DeliveryParser.time(link.security().rekeyMs()),
                DeliveryParser.time(SecurityOptions.DEFAULT.rekeyMs()));
        add(parts, WINDOW, stream.windowBytes(), StreamConfig.DEFAULT.windowBytes());
        add(parts, FRAME_MAX, stream.frameMaxBytes(), StreamConfig.DEFAULT.frameMaxBytes());
        add(parts, RING, stream.ringBytes(), StreamConfig.DEFAULT.ringBytes());
        add(parts, RING_MAX, stream.ringMaxBytes(), StreamConfig.DEFAULT.ringMaxBytes());
        add(parts, FRAMES_HELD, stream.framesHeld(), StreamConfig.DEFAULT.framesHeld());
        add(parts, DEVICE, stream.device(), StreamConfig.DEFAULT.device());
        add(parts, DELIVERY, stream.delivery(), StreamConfig.DEFAULT.delivery());
        add(parts, ALIVE_TIMEOUT, stream.aliveTimeoutMs(), StreamConfig.DEFAULT.aliveTimeoutMs());
        add(parts, REORDER, stream.reorderDatagrams(), StreamConfig.DEFAULT.reorderDatagrams());
        addCoRoots(parts, stream.coRoots());
        final SourceOptions sources = stream.sources();
        add(parts, SOURCES, sources.count(), SourceOptions.DEFAULT.count());
        add(
                parts,
                REJOIN,
                sources.rejoinMs() == SourceOptions.REJOIN_AUTO ? "auto" : DeliveryParser.time(sources.rejoinMs()),
                "auto");
        add(parts, JOIN, word(sources.joinAt()), word(SourceOptions.DEFAULT.joinAt()));
        add(parts, HOST_GROUP, sources.hostGroup(), SourceOptions.NO_HOST_GROUP);
        add(parts, LEADERS, word(sources.leaders()), word(SourceOptions.DEFAULT.leaders()));
        add(
                parts,
                ATTACH_AFTER,
                DeliveryParser.time(sources.attachAfterMs()),
                DeliveryParser.time(SourceOptions.DEFAULT.attachAfterMs()));
        addPlacement(parts, stream.placement());
        return "framecast:" + channel.transport() + "?" + String.join("|", parts);
    }

    private static void addCoRoots(final List<String> parts, final CoRootOptions coRoots) {
        final CoRootOptions defaults = CoRootOptions.DEFAULT;
        add(parts, CO_ROOTS, coRoots.count(), defaults.count());
        add(parts, FEED, word(coRoots.feed()), word(defaults.feed()));
        add(parts, SETS, word(coRoots.sets()), word(defaults.sets()));
        add(parts, SITE, coRoots.site(), defaults.site());
        add(parts, SERVE, coRoots.serves() ? "yes" : "no", defaults.serves() ? "yes" : "no");
    }

    private static void addPlacement(final List<String> parts, final PlacementOptions placement) {
        final PlacementOptions defaults = PlacementOptions.DEFAULT;
        add(parts, PLACEMENT, placement.kind().word(), defaults.kind().word());
        addBytes(parts, FASTCOPY_MAX, placement.fastcopyMaxBytes(), defaults.fastcopyMaxBytes());
        addBytes(parts, FASTCOPY_READ_MAX, placement.fastcopyReadMaxBytes(), defaults.fastcopyReadMaxBytes());
        addBytes(parts, GATHER_MAX, placement.gatherMaxBytes(), defaults.gatherMaxBytes());
        addBytes(parts, CHUNK, placement.chunkBytes(), defaults.chunkBytes());
    }

    private static void addBytes(
            final List<String> parts, final ChannelKey key, final long bytes, final long defaultBytes) {
        add(parts, key, PlacementOptions.text(bytes), PlacementOptions.text(defaultBytes));
    }

    /// How a constant is written in a URI.
    static String word(final Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    private static void add(
            final List<String> parts, final ChannelKey key, final Object value, final Object defaultValue) {
        if (!value.equals(defaultValue)) {
            parts.add(key.key + "=" + value);
        }
    }
}
