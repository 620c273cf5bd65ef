package io.framecast.api;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// How the value of a key is read from a URI and written into one, and which values a record may have. Every complaint
/// is one line: key, expectation, value.
///
/// @param reader text to value
/// @param writer value to a text that `reader` reads as an equal value
/// @param fits whether a record may have the value
/// @param expected the values that fit, in words
record KeySyntax<T>(Reader<T> reader, Function<T, String> writer, Predicate<T> fits, String expected) {
    private static final String PROVIDER = "[a-z][a-z0-9-]{0,31}";
    private static final String OF_PROVIDER = "provider's name (1 … 32 of a-z, 0-9, '-', a letter first)";
    private static final Pattern TIME = Pattern.compile("([0-9]{1,8})(ms|s|m|h)");
    // A group has three lanes, on consecutive ports.
    private static final int GROUP_PORT_MAX = 65_533;

    static final KeySyntax<String> TEXT = parsed(Function.identity());
    static final KeySyntax<String> TRANSPORT = matching(PROVIDER, "auto or a " + OF_PROVIDER);
    static final KeySyntax<String> DEVICE_NAME = matching(
            "auto(," + PROVIDER + ")?|(?!auto\\?)" + PROVIDER + "(:\\d{1,3})?(\\?" + PROVIDER + ")?",
            "auto, auto,KIND, KIND or KIND:N with a " + OF_PROVIDER + " for KIND and 0 … 999 for N, and ?MODE behind it"
                    + " where the provider has modes");
    static final KeySyntax<HostPort> ADDRESS = of((key, text, _) -> readAddress(key, text));
    static final KeySyntax<HostPort> MULTICAST = of((key, text, _) -> readMulticast(key, text));
    static final KeySyntax<Integer> REJOIN_TIME = time("10s or 1h", 0, SourceOptions.REJOIN_MAX_MS);

    interface Reader<T> {
        /// @param expected [KeySyntax#expected], for complaints
        /// @throws IllegalArgumentException naming key, expectation and value
        T read(String key, String text, String expected);
    }

    private static <T> KeySyntax<T> of(final Reader<T> reader) {
        return new KeySyntax<>(reader, Object::toString, _ -> true, "");
    }

    /// A value whose type knows its own text.
    static <T> KeySyntax<T> parsed(final Function<String, T> parse) {
        return of((_, text, _) -> parse.apply(text));
    }

    private static KeySyntax<String> matching(final String pattern, final String expected) {
        return new KeySyntax<>(
                (_, text, _) -> text,
                Function.identity(),
                Pattern.compile(pattern).asMatchPredicate(),
                expected);
    }

    /// Names of up to 64 characters.
    static KeySyntax<String> names(final int lengthMin, final String expected) {
        return matching("[A-Za-z0-9._-]{" + lengthMin + ",64}", expected + " 64 of letters, digits, '.', '_', '-'");
    }

    private static <T extends Number> KeySyntax<T> numbers(
            final Reader<T> reader, final long min, final long max, final String unit) {
        return new KeySyntax<>(
                reader,
                Object::toString,
                value -> value.longValue() >= min && value.longValue() <= max,
                min + " … " + max + unit);
    }

    static KeySyntax<Integer> count(final int min, final int max) {
        return count(min, max, "");
    }

    /// @param unit behind the range, in complaints
    static KeySyntax<Integer> count(final int min, final int max, final String unit) {
        return numbers(
                (key, text, expected) -> (int) readNumber(key, text, Integer.MAX_VALUE, expected), min, max, unit);
    }

    static KeySyntax<Long> milliseconds(final long min, final long max) {
        return numbers((key, text, expected) -> readNumber(key, text, Long.MAX_VALUE, expected), min, max, " ms");
    }

    /// @param unit behind the range, in complaints
    static KeySyntax<Long> bytes(final long min, final long max, final String unit) {
        return KeySyntax.<Long>numbers((key, text, _) -> ByteSize.parse(key, text), min, max, unit)
                .inLowerCase();
    }

    static KeySyntax<Long> bytesOrAuto(final long min, final long max) {
        return bytes(min, max, " bytes").orAuto(PlacementOptions.AUTO).inLowerCase();
    }

    /// @param zero the ring that 0 stands for
    static KeySyntax<Long> ring(final String zero) {
        return bytes(StreamConfig.RING_LEAST_BYTES, Long.MAX_VALUE, "")
                .or(0L)
                .expecting("0 for " + zero + ", or " + StreamConfig.RING_LEAST_BYTES + " bytes at least");
    }

    /// Milliseconds, as `500ms`, `10s`, `5m` or `1h`.
    static KeySyntax<Integer> time(final String examples, final int min, final int max) {
        final String times =
                "a time such as " + examples + ", " + DeliveryParser.time(min) + " … " + DeliveryParser.time(max);
        return KeySyntax.<Integer>numbers((key, text, _) -> readTime(key, text, times, min, max), min, max, " ms")
                .writing(DeliveryParser::time);
    }

    static KeySyntax<Boolean> flag(final String yes, final String no) {
        return words(yes + " or " + no, value -> value ? yes : no, List.of(true, false));
    }

    /// The constants of an enum, in lower case.
    static <E extends Enum<E>> KeySyntax<E> words(final E[] values) {
        return words(
                Arrays.stream(values).map(KeySyntax::word).collect(Collectors.joining(" or ")),
                KeySyntax::word,
                List.of(values));
    }

    static <T> KeySyntax<T> words(final String expected, final Function<T, String> word, final List<T> values) {
        return new KeySyntax<>(
                (key, text, _) -> values.stream()
                        .filter(value -> word.apply(value).equals(text))
                        .findFirst()
                        .orElseThrow(() -> refused(key, expected, text)),
                word,
                _ -> true,
                expected);
    }

    KeySyntax<T> or(final T value) {
        return new KeySyntax<>(
                reader, writer, other -> other.equals(value) || fits.test(other), expected + " or " + value);
    }

    KeySyntax<T> orAuto(final T auto) {
        return new KeySyntax<>(
                (key, text, _) -> text.equals("auto") ? auto : reader.read(key, text, expected + " or auto"),
                value -> value.equals(auto) ? "auto" : writer.apply(value),
                value -> value.equals(auto) || fits.test(value),
                "auto or " + expected);
    }

    KeySyntax<T> writing(final Function<T, String> value) {
        return new KeySyntax<>(reader, value, fits, expected);
    }

    KeySyntax<T> expecting(final String value) {
        return new KeySyntax<>(reader, writer, fits, value);
    }

    private KeySyntax<T> inLowerCase() {
        return new KeySyntax<>(
                (key, text, words) -> reader.read(key, text.toLowerCase(Locale.ROOT), words), writer, fits, expected);
    }

    T read(final String key, final String text) {
        return reader.read(key, text, expected);
    }

    /// @throws IllegalArgumentException naming key, expectation and value
    void require(final String key, final T value) {
        if (!fits.test(value)) {
            throw refused(key, expected, value);
        }
    }

    private static IllegalArgumentException refused(final String key, final String expected, final Object value) {
        return new IllegalArgumentException(key + ": expected " + expected + ", got " + value);
    }

    private static String word(final Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    private static long readNumber(final String key, final String text, final long max, final String expected) {
        if (!ByteSize.isNumber(text) || Long.parseLong(text) > max) {
            throw refused(key, "a number, " + expected, text);
        }
        return Long.parseLong(text);
    }

    private static int readTime(
            final String key, final String text, final String expected, final int min, final int max) {
        final Matcher matcher = TIME.matcher(text);
        final long ms = matcher.matches() ? Long.parseLong(matcher.group(1)) * unitMs(matcher.group(2)) : -1;
        if (ms < min || ms > max) {
            throw refused(key, expected, text);
        }
        return (int) ms;
    }

    private static long unitMs(final String unit) {
        return switch (unit) {
            case "ms" -> 1;
            case "s" -> 1_000;
            case "m" -> 60_000;
            default -> 3_600_000;
        };
    }

    private static HostPort readAddress(final String key, final String text) {
        try {
            return HostPort.parse(text);
        } catch (final IllegalArgumentException e) {
            throw new IllegalArgumentException(key + ": " + e.getMessage(), e);
        }
    }

    private static HostPort readMulticast(final String key, final String text) {
        final HostPort group = readAddress(key, text);
        if (!group.isMulticast()) {
            throw new IllegalArgumentException(key + ": expected a multicast address (224.0.0.0/4 or ff00::/8), got "
                    + text + "; for unicast fan-out use control=");
        }
        if (group.port() > GROUP_PORT_MAX) {
            throw refused(key, "a port up to " + GROUP_PORT_MAX + " (three lanes)", group.port());
        }
        return group;
    }
}
