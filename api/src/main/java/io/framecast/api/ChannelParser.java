package io.framecast.api;

import io.framecast.api.error.ConfigException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Text to [Channel]. Every complaint is one line: key, expectation, value.
final class ChannelParser {
    private static final String SCHEME = "framecast:";
    // Begins only where a run of separators begins: else each of n separators in a row is looked at n times.
    private static final Pattern NEXT_KEY = Pattern.compile(
            "(?<![^A-Za-z0-9.])([^A-Za-z0-9.]*)((?<=[&;])[A-Za-z_-]+|" + String.join("|", ChannelKey.keys()) + ")=");

    private final Map<ChannelKey, String> values = new EnumMap<>(ChannelKey.class);

    private ChannelParser() {}

    static Channel parse(final String uri) {
        try {
            return new ChannelParser().parseUri(uri);
        } catch (final IllegalArgumentException e) {
            throw new ConfigException("channel URI: " + e.getMessage(), e);
        }
    }

    private Channel parseUri(final String uri) {
        if (!uri.startsWith(SCHEME)) {
            throw new IllegalArgumentException("expected framecast:<transport>?key=value|…, got " + uri);
        }
        final int question = uri.indexOf('?');
        if (question < 0) {
            throw new IllegalArgumentException("expected ? and at least group=, control= or ipc=, got " + uri);
        }
        for (final String part : uri.substring(question + 1).split("\\|", -1)) {
            readPart(part);
        }
        final String transport = uri.substring(SCHEME.length(), question);
        ChannelKey.requireTransport(transport);
        final String name = values.getOrDefault(ChannelKey.CHANNEL, ChannelKey.DEFAULT_NAME);
        return build(transport, name, link(), stream());
    }

    private void readPart(final String part) {
        final int equals = part.indexOf('=');
        if (equals <= 0) {
            throw new IllegalArgumentException("expected key=value, got '" + part + "'");
        }
        final String text = part.substring(0, equals);
        final ChannelKey key = ChannelKey.find(text);
        if (key == null) {
            throw new IllegalArgumentException(
                    "unknown key " + text + "; nearest is " + EditDistance.nearest(text, ChannelKey.keys()));
        }
        final String value = part.substring(equals + 1);
        if (value.isEmpty()) {
            throw new IllegalArgumentException(text + ": expected a value, got none");
        }
        requireSeparator(key, value);
        if (values.put(key, value) != null) {
            throw new IllegalArgumentException(text + ": expected once, got it twice");
        }
    }

    // A value that goes on with another key: '|' was forgotten, or '&' written for it. A path may contain
    // anything.
    private static void requireSeparator(final ChannelKey key, final String value) {
        if (key == ChannelKey.IPC || key == ChannelKey.AUTH) {
            return;
        }
        final Matcher next = NEXT_KEY.matcher(value);
        if (next.find()) {
            final String separator = next.group(1).isEmpty() ? "nothing" : "'" + next.group(1) + "'";
            throw new IllegalArgumentException(key.key() + ": expected '|' between keys, got " + separator + " before "
                    + next.group(2) + "= in " + key.key() + "=" + value);
        }
    }

    private Channel build(final String transport, final String name, final LinkConfig link, final StreamConfig stream) {
        final List<ChannelKey> given = List.of(ChannelKey.GROUP, ChannelKey.CONTROL, ChannelKey.IPC).stream()
                .filter(values::containsKey)
                .toList();
        if (given.size() != 1) {
            throw new IllegalArgumentException(
                    "expected exactly one of group=, control= and ipc=, got " + given.size());
        }
        final String address = value(given.getFirst());
        return switch (given.getFirst()) {
            case GROUP -> new Channel.Multicast(transport, group(address), name, link, stream);
            case CONTROL -> new Channel.Fanout(transport, hostPort("control", address), name, link, stream);
            default -> new Channel.Ipc(transport, Path.of(address), name, link, stream);
        };
    }

    private static HostPort group(final String text) {
        final HostPort group = hostPort("group", text);
        if (!group.isMulticast()) {
            throw new IllegalArgumentException("group: expected a multicast address (224.0.0.0/4 or ff00::/8), got "
                    + text + "; for unicast fan-out use control=");
        }
        // Three lanes on consecutive ports.
        if (group.port() > 65_533) {
            throw new IllegalArgumentException("group: expected a port up to 65533 (three lanes), got " + group.port());
        }
        return group;
    }

    private static HostPort hostPort(final String key, final String text) {
        try {
            return HostPort.parse(text);
        } catch (final IllegalArgumentException e) {
            throw new IllegalArgumentException(key + ": " + e.getMessage(), e);
        }
    }

    private LinkConfig link() {
        return new LinkConfig(
                values.getOrDefault(ChannelKey.INTERFACE, ""),
                number(
                        ChannelKey.MTU,
                        LinkConfig.DEFAULT.mtuBytes(),
                        LinkConfig.MTU_BYTES_MIN + " … " + LinkConfig.MTU_BYTES_MAX + " or 0"),
                number(ChannelKey.TTL, LinkConfig.DEFAULT.ttl(), "0 … 255"),
                number(ChannelKey.DSCP, LinkConfig.DEFAULT.dscp(), "0 … " + LinkConfig.DSCP_MAX),
                bytes(ChannelKey.SOCKET_BUFFER, LinkConfig.DEFAULT.socketBufferBytes()),
                bytes(ChannelKey.RATE, LinkConfig.DEFAULT.rateBytes()),
                isOneSided(),
                PortRange.parse(values.getOrDefault(ChannelKey.UNICAST_PORTS, PortRange.ANY.toString())),
                security());
    }

    private SecurityOptions security() {
        final String rekey = values.get(ChannelKey.REKEY);
        return new SecurityOptions(
                value(ChannelKey.AUTH),
                cipher(),
                payloads(),
                rekey == null ? SecurityOptions.DEFAULT.rekeyMs() : SecurityOptions.rekeyMs(rekey));
    }

    private SecurityOptions.Cipher cipher() {
        final String text = values.getOrDefault(
                ChannelKey.CIPHER, SecurityOptions.DEFAULT.cipher().word());
        for (final SecurityOptions.Cipher cipher : SecurityOptions.Cipher.values()) {
            if (cipher.word().equals(text)) {
                refuseUnprotected(cipher);
                return cipher;
            }
        }
        throw new IllegalArgumentException("cipher: expected auto, aes-gcm, chacha20-poly1305 or none, got " + text);
    }

    private void refuseUnprotected(final SecurityOptions.Cipher cipher) {
        final boolean unprotected = cipher == SecurityOptions.Cipher.NONE
                && values.containsKey(ChannelKey.CIPHER)
                && values.containsKey(ChannelKey.AUTH)
                && !values.containsKey(ChannelKey.PAYLOADS);
        if (unprotected) {
            throw new IllegalArgumentException("cipher: none beside auth= leaves payloads without protection; write"
                    + " payloads=unprotected at both ends, or leave cipher= out");
        }
    }

    private SecurityOptions.Payloads payloads() {
        final SecurityOptions.Payloads unprotected = SecurityOptions.Payloads.UNPROTECTED;
        final String text = value(ChannelKey.PAYLOADS);
        if (!text.isEmpty() && !text.equals(unprotected.word())) {
            throw new IllegalArgumentException("payloads: expected " + unprotected.word() + ", got " + text);
        }
        return text.isEmpty() ? SecurityOptions.DEFAULT.payloads() : unprotected;
    }

    private boolean isOneSided() {
        final String text = value(ChannelKey.ONE_SIDED);
        if (!text.isEmpty() && !text.equals("auto") && !text.equals("off")) {
            throw new IllegalArgumentException("one-sided: expected auto or off, got " + text);
        }
        return !text.equals("off");
    }

    private StreamConfig stream() {
        final StreamConfig defaults = StreamConfig.DEFAULT;
        return new StreamConfig(
                bytes(ChannelKey.WINDOW, defaults.windowBytes()),
                bytes(ChannelKey.FRAME_MAX, defaults.frameMaxBytes()),
                bytes(ChannelKey.RING, defaults.ringBytes()),
                bytes(ChannelKey.RING_MAX, defaults.ringMaxBytes()),
                number(ChannelKey.FRAMES_HELD, defaults.framesHeld(), "1 … 1024"),
                values.getOrDefault(ChannelKey.DEVICE, defaults.device()),
                delivery(),
                number(ChannelKey.ALIVE_TIMEOUT, defaults.aliveTimeoutMs(), Long.MAX_VALUE, "10 … 86400000 ms"),
                number(ChannelKey.REORDER, defaults.reorderDatagrams(), "0 … 10000 datagrams"),
                coRoots(),
                sources(),
                placement());
    }

    private PlacementOptions placement() {
        final PlacementOptions defaults = PlacementOptions.DEFAULT;
        return new PlacementOptions(
                PlacementOptions.Kind.parse(values.getOrDefault(
                        ChannelKey.PLACEMENT, defaults.kind().word())),
                bytesOrAuto(ChannelKey.FASTCOPY_MAX, defaults.fastcopyMaxBytes()),
                bytesOrAuto(ChannelKey.FASTCOPY_READ_MAX, defaults.fastcopyReadMaxBytes()),
                bytesOrAuto(ChannelKey.GATHER_MAX, defaults.gatherMaxBytes()),
                bytesOrAuto(ChannelKey.CHUNK, defaults.chunkBytes()));
    }

    private long bytesOrAuto(final ChannelKey key, final long defaultValue) {
        final String text = values.get(key);
        return text == null ? defaultValue : PlacementOptions.parse(key.key(), text.toLowerCase(Locale.ROOT));
    }

    private SourceOptions sources() {
        final SourceOptions defaults = SourceOptions.DEFAULT;
        final String rejoin = values.get(ChannelKey.REJOIN);
        final String attachAfter = values.get(ChannelKey.ATTACH_AFTER);
        return new SourceOptions(
                number(ChannelKey.SOURCES, defaults.count(), "1 … " + SourceOptions.COUNT_MAX),
                rejoin == null || rejoin.equals("auto") ? defaults.rejoinMs() : SourceOptions.rejoinMs(rejoin),
                oneOf(ChannelKey.JOIN, SourceOptions.JoinAt.values(), defaults.joinAt()),
                values.getOrDefault(ChannelKey.HOST_GROUP, defaults.hostGroup()),
                oneOf(ChannelKey.LEADERS, SourceOptions.Leaders.values(), defaults.leaders()),
                attachAfter == null ? defaults.attachAfterMs() : SourceOptions.attachAfterMs(attachAfter));
    }

    private CoRootOptions coRoots() {
        final CoRootOptions defaults = CoRootOptions.DEFAULT;
        final int count = "auto".equals(values.get(ChannelKey.CO_ROOTS))
                ? CoRootOptions.AUTO
                : number(ChannelKey.CO_ROOTS, defaults.count(), "0 … " + CoRootOptions.COUNT_MAX + " or auto");
        return new CoRootOptions(
                count,
                oneOf(ChannelKey.FEED, CoRootOptions.Feed.values(), defaults.feed()),
                oneOf(ChannelKey.SETS, CoRootOptions.Sets.values(), defaults.sets()),
                values.getOrDefault(ChannelKey.SITE, defaults.site()),
                isYes(ChannelKey.SERVE, defaults.serves()));
    }

    private <E extends Enum<E>> E oneOf(final ChannelKey key, final E[] known, final E defaultValue) {
        final String text = values.get(key);
        if (text == null) {
            return defaultValue;
        }
        final List<String> words = Arrays.stream(known).map(ChannelKey::word).toList();
        if (!words.contains(text)) {
            throw new IllegalArgumentException(
                    key.key() + ": expected " + String.join(" or ", words) + ", got " + text);
        }
        return known[words.indexOf(text)];
    }

    private boolean isYes(final ChannelKey key, final boolean defaultValue) {
        final String text = values.get(key);
        if (text != null && !text.equals("yes") && !text.equals("no")) {
            throw new IllegalArgumentException(key.key() + ": expected yes or no, got " + text);
        }
        return text == null ? defaultValue : text.equals("yes");
    }

    private Delivery delivery() {
        final String text = values.get(ChannelKey.DELIVERY);
        return text == null ? StreamConfig.DEFAULT.delivery() : Delivery.parse(text);
    }

    private String value(final ChannelKey key) {
        return values.getOrDefault(key, "");
    }

    /// @param range what is accepted, in words
    private int number(final ChannelKey key, final int defaultValue, final String range) {
        return (int) number(key, defaultValue, Integer.MAX_VALUE, range);
    }

    private long number(final ChannelKey key, final long defaultValue, final long max, final String range) {
        final String text = values.get(key);
        if (text == null) {
            return defaultValue;
        }
        if (!ByteSize.isNumber(text) || Long.parseLong(text) > max) {
            throw new IllegalArgumentException(key.key() + ": expected a number, " + range + ", got " + text);
        }
        return Long.parseLong(text);
    }

    private long bytes(final ChannelKey key, final long defaultValue) {
        final String text = values.get(key);
        return text == null ? defaultValue : ByteSize.parse(key.key(), text.toLowerCase(Locale.ROOT));
    }
}
