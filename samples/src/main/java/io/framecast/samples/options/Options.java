package io.framecast.samples.options;

import io.framecast.api.ByteSize;
import io.framecast.api.error.ConfigException;
import java.lang.reflect.Field;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.TypeConversionException;

/// Reads values of options and compares them with their bounds. A value that is refused gives one line that names
/// option, expectation and value.
public final class Options {
    // ByteSize puts the key before its complaint; picocli knows the option's name, its converters do not.
    private static final String NO_KEY = "";
    private static final String BEHIND_KEY = ": ";

    private Options() {}

    /// A complaint about a value, without the name of its option.
    private static final class RefusedException extends TypeConversionException {
        private static final long serialVersionUID = 1L;

        RefusedException(final String complaint) {
            super(complaint);
        }
    }

    /// Registers the types with a command and all commands within it.
    public static CommandLine register(final CommandLine command) {
        return command.registerConverter(Size.class, text -> new Size(size(text)))
                .registerConverter(Sizes.class, text -> new Sizes(text, list(text, Options::size)))
                .registerConverter(Numbers.class, text -> new Numbers(list(text, Options::number)))
                .registerConverter(Words.class, text -> new Words(list(text, Function.identity())));
    }

    private static long size(final String text) {
        try {
            return ByteSize.parse(NO_KEY, text);
        } catch (final IllegalArgumentException e) {
            throw new RefusedException(String.valueOf(e.getMessage()).substring(BEHIND_KEY.length()));
        }
    }

    private static double number(final String text) {
        try {
            return Double.parseDouble(text);
        } catch (final NumberFormatException e) {
            throw new RefusedException("expected a number, got " + text);
        }
    }

    private static <T> List<T> list(final String text, final Function<String, T> parse) {
        final List<T> values = Stream.of(text.split(",", -1))
                .map(String::strip)
                .filter(part -> !part.isEmpty())
                .map(parse)
                .distinct()
                .toList();
        if (values.isEmpty()) {
            throw new RefusedException("expected a list, got nothing");
        }
        return values;
    }

    /// Compares the values of the command that is run with their bounds. Where help is asked for, any value will
    /// do.
    ///
    /// @throws ParameterException whose line [#complaint] gives
    public static void check(final ParseResult parsed) {
        ParseResult last = parsed;
        while (last.hasSubcommand()) {
            last = last.subcommand();
        }
        if (last.isUsageHelpRequested()) {
            return;
        }
        for (final OptionSpec option : last.commandSpec().options()) {
            final @Nullable Object value = option.getValue();
            if (value != null && option.userObject() instanceof Field field) {
                final String complaint = complaint(field, value);
                if (!complaint.isEmpty()) {
                    throw new ParameterException(
                            last.commandSpec().commandLine(),
                            complaint,
                            new RefusedException(complaint),
                            option,
                            value.toString());
                }
            }
        }
    }

    // Empty where the value is well.
    private static String complaint(final Field field, final Object value) {
        final @Nullable Within bounds = field.getAnnotation(Within.class);
        if (bounds != null) {
            return numbers(value)
                    .mapToObj(number -> complaint(bounds, number, value instanceof Sizes))
                    .filter(complaint -> !complaint.isEmpty())
                    .findFirst()
                    .orElse("");
        }
        final @Nullable OneOf known = field.getAnnotation(OneOf.class);
        if (known == null || (known.orNone() && value instanceof Words words && words.areNone())) {
            return "";
        }
        final String expected = known.expected().isEmpty() ? String.join(", ", known.value()) : known.expected();
        return words(value).stream()
                .filter(word -> !word.matches(String.join("|", known.value())))
                .map(word -> "expected " + expected + ", got " + word)
                .findFirst()
                .orElse("");
    }

    private static String complaint(final Within bounds, final double number, final boolean isOfList) {
        if (!(number >= bounds.least() && number <= bounds.most())) {
            return outOf(bounds.least(), bounds.most(), number);
        }
        return number % bounds.multipleOf() == 0 || bounds.multipleOf() == 1
                ? ""
                : "expected " + (isOfList ? "multiples of " : "a multiple of ") + bounds.multipleOf() + ", got "
                        + plain(number);
    }

    private static DoubleStream numbers(final Object value) {
        return switch (value) {
            case Size size -> DoubleStream.of((double) size.value());
            case Sizes sizes -> sizes.values().stream().mapToDouble(Long::doubleValue);
            case Numbers numbers -> numbers.values().stream().mapToDouble(Double::doubleValue);
            case Number number -> DoubleStream.of(number.doubleValue());
            default -> throw new IllegalStateException("no number: " + value);
        };
    }

    private static List<String> words(final Object value) {
        return value instanceof Words words ? words.values() : List.of(value.toString());
    }

    private static String outOf(final double least, final double most, final double value) {
        return "expected " + plain(least) + " … " + plain(most) + ", got " + plain(value);
    }

    private static String plain(final double value) {
        return value == Math.rint(value) ? String.format(Locale.ROOT, "%.0f", value) : Double.toString(value);
    }

    /// The complaint about a value, by the option's name; null where the command line is wrong otherwise.
    public static @Nullable String complaint(final ParameterException failure) {
        final @Nullable ArgSpec option = failure.getArgSpec();
        return failure.getCause() instanceof RefusedException refused && option instanceof OptionSpec named
                ? named.names()[0] + BEHIND_KEY + refused.getMessage()
                : null;
    }

    /// @throws ConfigException with this message, unless the condition holds
    public static void require(final boolean condition, final String message) {
        if (!condition) {
            throw new ConfigException(message);
        }
    }

    /// The value, when it is within bounds that depend on other options.
    ///
    /// @throws ConfigException naming option, expectation and value
    public static double within(final String option, final double value, final double least, final double most) {
        require(value >= least && value <= most, option + BEHIND_KEY + outOf(least, most, value));
        return value;
    }
}
