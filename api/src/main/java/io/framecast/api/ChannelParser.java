package io.framecast.api;

import io.framecast.api.error.ConfigException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// Text to [Channel]. Every complaint is one line: key, expectation, value.
final class ChannelParser {
    private static final String SCHEME = "framecast:";
    // Begins only where a run of separators begins: else each of n separators in a row is looked at n times.
    private static final Pattern NEXT_KEY = Pattern.compile(
            "(?<![^A-Za-z0-9.])([^A-Za-z0-9.]*)((?<=[&;])[A-Za-z_-]+|" + String.join("|", ChannelKey.keys()) + ")=");

    // Keys of earlier versions, and what to do without them.
    private static final Map<String, String> GONE = Map.of(
            "sets",
            "there is no such key any more; subscribers with one site= share a co-root, others are grouped as they"
                    + " join");

    private final Map<ChannelKey, String> texts = new EnumMap<>(ChannelKey.class);

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
        KeySyntax.TRANSPORT.require("transport", transport);
        final KeyValues values = this::value;
        return build(transport, values, LinkConfig.of(values), StreamConfig.of(values));
    }

    private void readPart(final String part) {
        final int equals = part.indexOf('=');
        if (equals <= 0) {
            throw new IllegalArgumentException("expected key=value, got '" + part + "'");
        }
        final String text = part.substring(0, equals);
        final ChannelKey key = ChannelKey.find(text);
        if (GONE.containsKey(text)) {
            throw new IllegalArgumentException(text + ": " + GONE.get(text));
        }
        if (key == null) {
            throw new IllegalArgumentException(
                    "unknown key " + text + "; nearest is " + EditDistance.nearest(text, ChannelKey.keys()));
        }
        final String value = part.substring(equals + 1);
        if (value.isEmpty()) {
            throw new IllegalArgumentException(text + ": expected a value, got none");
        }
        requireSeparator(key, value);
        if (texts.put(key, value) != null) {
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

    // Records ask for their keys in the order of the table, which is that of complaints.
    private Object value(final ChannelKey key) {
        final String text = texts.get(key);
        if (text == null) {
            return key.defaultValue();
        }
        final Object value = key.read(text);
        if (value == SecurityOptions.Cipher.NONE
                && texts.containsKey(ChannelKey.AUTH)
                && !texts.containsKey(ChannelKey.PAYLOADS)) {
            throw new IllegalArgumentException("cipher: none beside auth= leaves payloads without protection; write"
                    + " payloads=unprotected at both ends, or leave cipher= out");
        }
        return value;
    }

    private Channel build(
            final String transport, final KeyValues values, final LinkConfig link, final StreamConfig stream) {
        final List<ChannelKey> given = Stream.of(ChannelKey.GROUP, ChannelKey.CONTROL, ChannelKey.IPC)
                .filter(texts::containsKey)
                .toList();
        if (given.size() != 1) {
            throw new IllegalArgumentException(
                    "expected exactly one of group=, control= and ipc=, got " + given.size());
        }
        final ChannelKey address = given.getFirst();
        final String name = values.get(ChannelKey.CHANNEL);
        return switch (address) {
            case GROUP -> new Channel.Multicast(transport, values.get(address), name, link, stream);
            case CONTROL -> new Channel.Fanout(transport, values.get(address), name, link, stream);
            default -> new Channel.Ipc(transport, values.get(address), name, link, stream);
        };
    }
}
