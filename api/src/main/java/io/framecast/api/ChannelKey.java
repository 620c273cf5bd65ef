package io.framecast.api;

import static io.framecast.api.KeySyntax.ADDRESS;
import static io.framecast.api.KeySyntax.DEVICE_NAME;
import static io.framecast.api.KeySyntax.MULTICAST;
import static io.framecast.api.KeySyntax.REJOIN_TIME;
import static io.framecast.api.KeySyntax.TEXT;
import static io.framecast.api.KeySyntax.bytes;
import static io.framecast.api.KeySyntax.bytesOrAuto;
import static io.framecast.api.KeySyntax.count;
import static io.framecast.api.KeySyntax.flag;
import static io.framecast.api.KeySyntax.milliseconds;
import static io.framecast.api.KeySyntax.names;
import static io.framecast.api.KeySyntax.parsed;
import static io.framecast.api.KeySyntax.ring;
import static io.framecast.api.KeySyntax.time;
import static io.framecast.api.KeySyntax.words;
import static io.framecast.api.LinkConfig.MTU_BYTES_MAX;
import static io.framecast.api.LinkConfig.MTU_BYTES_MIN;
import static io.framecast.api.PlacementOptions.AUTO;
import static io.framecast.api.PlacementOptions.CHUNK_MAX_LIMIT;
import static io.framecast.api.PlacementOptions.FASTCOPY_MAX_LIMIT;
import static io.framecast.api.PlacementOptions.GATHER_MAX_LIMIT;
import static io.framecast.api.SourceOptions.NO_HOST_GROUP;
import static io.framecast.api.StreamConfig.FRAME_MAX_LIMIT;

import io.framecast.api.CoRootOptions.Feed;
import io.framecast.api.PlacementOptions.Kind;
import io.framecast.api.SecurityOptions.Cipher;
import io.framecast.api.SecurityOptions.Payloads;
import io.framecast.api.SourceOptions.JoinAt;
import io.framecast.api.SourceOptions.Leaders;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The keys of a channel URI, in the order in which they are read and written. Exactly one of GROUP, CONTROL and
/// IPC is given.
///
/// A row says what a key is of: the record and its component, the texts and values that it takes, and its default.
// Rows are functions without state.
@SuppressWarnings("ImmutableEnumChecker")
public enum ChannelKey {
    /// Multicast group and port: `224.20.30.39:24326`, `[ff12::a]:24326`.
    GROUP(Channel.Multicast.class, Channel.Multicast::group, MULTICAST),
    /// The source's address for unicast fan-out: `10.0.0.1:24326`.
    CONTROL(Channel.Fanout.class, Channel.Fanout::control, ADDRESS),
    /// Media driver directory for shared memory.
    IPC(Channel.Ipc.class, Channel.Ipc::directory, parsed(Path::of), Path.of("")),
    /// Stream name; `default` when absent.
    CHANNEL(Channel.class, Channel::name, names(1, "1 …"), "default"),
    /// See [LinkConfig#networkInterface].
    INTERFACE(LinkConfig.class, LinkConfig::networkInterface, TEXT, ""),
    /// See [LinkConfig#mtuBytes].
    MTU(
            LinkConfig.class,
            LinkConfig::mtuBytes,
            count(MTU_BYTES_MIN, MTU_BYTES_MAX).or(0),
            0),
    /// See [LinkConfig#ttl].
    TTL(LinkConfig.class, LinkConfig::ttl, count(0, 255), 1),
    /// See [LinkConfig#dscp]. Each end's own.
    DSCP(LinkConfig.class, LinkConfig::dscp, count(0, LinkConfig.DSCP_MAX), 0),
    /// See [LinkConfig#socketBufferBytes].
    SOCKET_BUFFER(LinkConfig.class, LinkConfig::socketBufferBytes, bytes(0, Integer.MAX_VALUE, ""), 0L),
    /// See [LinkConfig#rateBytes].
    RATE(
            LinkConfig.class,
            LinkConfig::rateBytes,
            bytes(LinkConfig.RATE_BYTES_MIN, LinkConfig.RATE_BYTES_MAX, " bytes per second")
                    .or(0L),
            0L),
    /// See [LinkConfig#oneSided]: `auto` or `off`. Each end's own.
    ONE_SIDED(LinkConfig.class, LinkConfig::oneSided, flag("auto", "off"), true),
    /// See [LinkConfig#unicastPorts]: `40000-40015`, or `any`. Each end's own.
    UNICAST_PORTS(LinkConfig.class, LinkConfig::unicastPorts, parsed(PortRange::parse), PortRange.ANY),
    /// See [SecurityOptions#auth]: `psk:FILE` or `keys:PATH`.
    AUTH(SecurityOptions.class, SecurityOptions::auth, TEXT, ""),
    /// See [SecurityOptions#cipher]: `auto`, `aes-gcm` or `chacha20-poly1305`; `none` without `auth=`.
    CIPHER(
            SecurityOptions.class,
            SecurityOptions::cipher,
            words("auto, aes-gcm, chacha20-poly1305 or none", Cipher::word, List.of(Cipher.values())),
            Cipher.NONE),
    /// See [SecurityOptions#payloads]: `unprotected`, at both ends or at neither.
    PAYLOADS(
            SecurityOptions.class,
            SecurityOptions::payloads,
            words("unprotected", Payloads::word, List.of(Payloads.UNPROTECTED)),
            Payloads.PROTECTED),
    /// See [SecurityOptions#rekeyMs]: `10m`, `1h`. A publisher's.
    REKEY(SecurityOptions.class, SecurityOptions::rekeyMs, time("10m or 1h", 0, SecurityOptions.REKEY_MAX_MS), 0),
    /// See [StreamConfig#windowBytes].
    WINDOW(
            StreamConfig.class,
            StreamConfig::windowBytes,
            bytes(0, Long.MAX_VALUE, "").expecting("bytes >= 0"),
            0L),
    /// See [StreamConfig#frameMaxBytes].
    FRAME_MAX(StreamConfig.class, StreamConfig::frameMaxBytes, bytes(1, FRAME_MAX_LIMIT - 1, " bytes"), 16L << 20),
    /// See [StreamConfig#ringBytes].
    RING(StreamConfig.class, StreamConfig::ringBytes, ring("the smallest that works"), 0L),
    /// See [StreamConfig#ringMaxBytes].
    RING_MAX(StreamConfig.class, StreamConfig::ringMaxBytes, ring("a quarter of what is available"), 0L),
    /// See [StreamConfig#framesHeld].
    FRAMES_HELD(StreamConfig.class, StreamConfig::framesHeld, count(1, 1024), 2),
    /// See [StreamConfig#device].
    DEVICE(StreamConfig.class, StreamConfig::device, DEVICE_NAME, "auto"),
    /// See [Delivery]: `reliable`, `latest`, `deadline=40ms`, `evict=2s`. A subscriber's own choice.
    DELIVERY(StreamConfig.class, StreamConfig::delivery, parsed(Delivery::parse), Delivery.RELIABLE),
    /// See [StreamConfig#aliveTimeoutMs]; milliseconds.
    ALIVE_TIMEOUT(StreamConfig.class, StreamConfig::aliveTimeoutMs, milliseconds(10, 86_400_000), 5_000L),
    /// See [StreamConfig#reorderDatagrams].
    REORDER(StreamConfig.class, StreamConfig::reorderDatagrams, count(0, 10_000, " datagrams"), 3),
    /// See [CoRootOptions#count]: `auto` or a number. A publisher's.
    CO_ROOTS(
            CoRootOptions.class,
            CoRootOptions::count,
            count(0, CoRootOptions.COUNT_MAX).orAuto(CoRootOptions.AUTO),
            CoRootOptions.AUTO),
    /// See [CoRootOptions#feed]: `multicast` or `unicast`. A publisher's.
    FEED(CoRootOptions.class, CoRootOptions::feed, words(Feed.values()), Feed.MULTICAST),
    /// See [CoRootOptions#site]. A subscriber's.
    SITE(CoRootOptions.class, CoRootOptions::site, names(0, "up to"), ""),
    /// See [CoRootOptions#serves]: `yes` or `no`. A subscriber's.
    SERVE(CoRootOptions.class, CoRootOptions::serves, flag("yes", "no"), true),
    /// See [SourceOptions#count]. A subscriber's.
    SOURCES(SourceOptions.class, SourceOptions::count, count(1, SourceOptions.COUNT_MAX), 1),
    /// See [SourceOptions#rejoinMs]: `auto`, `10s`, `1h`. A subscriber's.
    REJOIN(
            SourceOptions.class,
            SourceOptions::rejoinMs,
            REJOIN_TIME.orAuto(SourceOptions.REJOIN_AUTO).expecting(REJOIN_TIME.expected()),
            SourceOptions.REJOIN_AUTO),
    /// See [SourceOptions#joinAt]: `frame` or `keyframe`. A subscriber's.
    JOIN(SourceOptions.class, SourceOptions::joinAt, words(JoinAt.values()), JoinAt.FRAME),
    /// See [SourceOptions#hostGroup]: `off`, `auto` or a name. A subscriber's.
    HOST_GROUP(SourceOptions.class, SourceOptions::hostGroup, names(1, "off, auto or 1 …"), NO_HOST_GROUP),
    /// See [SourceOptions#leaders]: `host`, `socket` or `nic`. A subscriber's.
    LEADERS(SourceOptions.class, SourceOptions::leaders, words(Leaders.values()), Leaders.HOST),
    /// See [SourceOptions#attachAfterMs]: `1s`, `200ms`. A subscriber's.
    ATTACH_AFTER(
            SourceOptions.class,
            SourceOptions::attachAfterMs,
            time("200ms or 2s", SourceOptions.ATTACH_AFTER_MIN_MS, SourceOptions.ATTACH_AFTER_MAX_MS),
            1_000),
    /// See [PlacementOptions#kind]: `auto`, `direct`, `fastcopy`, `loopback` or `staged`. A subscriber's.
    PLACEMENT(
            PlacementOptions.class, PlacementOptions::kind, parsed(Kind::parse).writing(Kind::word), Kind.AUTO),
    /// See [PlacementOptions#fastcopyMaxBytes]: `auto` or bytes.
    FASTCOPY_MAX(PlacementOptions.class, PlacementOptions::fastcopyMaxBytes, bytesOrAuto(0, FASTCOPY_MAX_LIMIT), AUTO),
    /// See [PlacementOptions#fastcopyReadMaxBytes]: `auto` or bytes. A publisher's.
    FASTCOPY_READ_MAX(
            PlacementOptions.class, PlacementOptions::fastcopyReadMaxBytes, bytesOrAuto(0, FASTCOPY_MAX_LIMIT), AUTO),
    /// See [PlacementOptions#gatherMaxBytes]: `auto` or bytes. A publisher's.
    GATHER_MAX(PlacementOptions.class, PlacementOptions::gatherMaxBytes, bytesOrAuto(0, GATHER_MAX_LIMIT), AUTO),
    /// See [PlacementOptions#chunkBytes]: `auto` or bytes, the length of a piece and no threshold. A
    /// publisher's.
    CHUNK(PlacementOptions.class, PlacementOptions::chunkBytes, bytesOrAuto(1, CHUNK_MAX_LIMIT), AUTO);

    private final String key = name().toLowerCase(Locale.ROOT).replace('_', '-');
    private final Class<?> owner;
    private final Function<Object, Object> component;
    private final KeySyntax<Object> syntax;
    private final Object defaultValue;

    /// The address of a channel, which has no default.
    <R, T> ChannelKey(final Class<R> owner, final Function<R, T> component, final KeySyntax<T> syntax) {
        this("", owner, component, syntax);
    }

    <R, T> ChannelKey(
            final Class<R> owner, final Function<R, T> component, final KeySyntax<T> syntax, final T defaultValue) {
        this(defaultValue, owner, component, syntax);
    }

    // Only values of T reach the syntax.
    @SuppressWarnings("unchecked")
    <R, T> ChannelKey(
            final Object defaultValue,
            final Class<R> owner,
            final Function<R, T> component,
            final KeySyntax<T> syntax) {
        this.owner = owner;
        this.component = record -> component.apply(owner.cast(record));
        this.syntax = (KeySyntax<Object>) syntax;
        this.defaultValue = defaultValue;
    }

    /// The key as written in a URI.
    public String key() {
        return key;
    }

    Object defaultValue() {
        return defaultValue;
    }

    /// The component of the one of these records that has it.
    Optional<Object> in(final Object... records) {
        return Arrays.stream(records).filter(owner::isInstance).findFirst().map(component);
    }

    /// @throws IllegalArgumentException naming key, expectation and value
    Object read(final String text) {
        return syntax.read(key, text);
    }

    /// @param value of the component
    /// @throws IllegalArgumentException naming key, expectation and value
    void require(final Object value) {
        syntax.require(key, value);
    }

    static @Nullable ChannelKey find(final String text) {
        for (final ChannelKey candidate : values()) {
            if (candidate.key.equals(text)) {
                return candidate;
            }
        }
        return null;
    }

    static List<String> keys() {
        return Arrays.stream(values()).map(ChannelKey::key).toList();
    }

    /// Writes what differs from the defaults, in declaration order, so that equal channels give equal text.
    static String format(final Channel channel) {
        final LinkConfig link = channel.link();
        final StreamConfig stream = channel.stream();
        final Object[] records = {
            channel, link, link.security(), stream, stream.coRoots(), stream.sources(), stream.placement()
        };
        return Arrays.stream(values())
                .flatMap(key -> key
                        .in(records)
                        .filter(value -> !value.equals(key.defaultValue))
                        .map(value -> key.key + "=" + key.syntax.writer().apply(value))
                        .stream())
                .collect(Collectors.joining("|", "framecast:" + channel.transport() + "?", ""));
    }
}
