package io.framecast.perf.harness;

import io.framecast.api.ByteSize;
import io.framecast.api.error.ConfigException;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Stream;

/// Values of options as users give them. Every method throws [ConfigException] naming option, expectation
/// and value.
public final class OptionValues {
    private OptionValues() {}

    public static void require(final boolean condition, final String message) {
        if (!condition) {
            throw new ConfigException(message);
        }
    }

    /// One of some words.
    public static String word(final String option, final String text, final List<String> known) {
        require(known.contains(text), option + ": expected " + String.join(", ", known) + ", got " + text);
        return text;
    }

    /// `on` or `off`.
    public static boolean onOrOff(final String option, final String text) {
        return word(option, text, List.of("on", "off")).equals("on");
    }

    /// Values between commas, each once.
    public static <T> List<T> list(final String option, final String text, final Function<String, T> parse) {
        final List<T> values = Stream.of(text.split(",", -1))
                .map(String::strip)
                .filter(part -> !part.isEmpty())
                .map(parse)
                .distinct()
                .toList();
        require(!values.isEmpty(), option + ": expected a list, got nothing");
        return values;
    }

    /// Some of some words.
    public static List<String> words(final String option, final String text, final List<String> known) {
        return list(option, text, word -> word(option, word, known));
    }

    /// Numbers of bytes, within bounds.
    public static List<Integer> bytesList(final String option, final String text, final int least, final int most) {
        return list(option, text, bytes -> bytes(option, bytes, least, most));
    }

    /// A number of bytes, within bounds.
    public static int bytes(final String option, final String text, final int least, final int most) {
        final long value;
        try {
            value = ByteSize.parse(option, text);
        } catch (final IllegalArgumentException e) {
            throw new ConfigException(String.valueOf(e.getMessage()), e);
        }
        require(value >= least && value <= most, option + ": expected " + least + " … " + most + ", got " + value);
        return (int) value;
    }

    public static double number(final String option, final String text) {
        try {
            return Double.parseDouble(text);
        } catch (final NumberFormatException e) {
            throw new ConfigException(option + ": expected a number, got " + text, e);
        }
    }

    /// The value, when it is within bounds.
    public static double within(final String option, final double value, final double least, final double most) {
        require(
                value >= least && value <= most,
                option + ": expected " + plain(least) + " … " + plain(most) + ", got " + plain(value));
        return value;
    }

    /// The same for whole numbers.
    public static long within(final String option, final long value, final long least, final long most) {
        require(value >= least && value <= most, option + ": expected " + least + " … " + most + ", got " + value);
        return value;
    }

    private static String plain(final double value) {
        return value == Math.rint(value) ? String.format(Locale.ROOT, "%.0f", value) : Double.toString(value);
    }
}
