package io.framecast.samples.json;

import java.util.Collection;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// JSON texts from and to plain values: Map (with String keys), Collection, String, Number, Boolean, null. Small on
/// purpose: the tool writes one short object per run and reads back those of its own children.
public final class Json {
    private Json() {}

    /// One line, keys in the map's order.
    ///
    /// @throws IllegalArgumentException for any other type, and for numbers that JSON cannot say (NaN, infinities)
    public static String write(final @Nullable Object value) {
        final StringBuilder text = new StringBuilder();
        append(text, value);
        return text.toString();
    }

    /// Reads one JSON text. Whole numbers become Long, others Double; objects keep the order of their keys.
    ///
    /// @throws IllegalArgumentException when the text is anything else than exactly one JSON value
    public static @Nullable Object parse(final String text) {
        return new JsonReader(text).readAll();
    }

    private static void append(final StringBuilder text, final @Nullable Object value) {
        switch (value) {
            case null -> text.append("null");
            case String string -> appendString(text, string);
            case Boolean flag -> text.append(flag.booleanValue());
            case Number number -> appendNumber(text, number);
            case Map<?, ?> map -> appendMap(text, map);
            case Collection<?> list -> appendList(text, list);
            default -> throw new IllegalArgumentException("JSON: cannot write a " + value.getClass());
        }
    }

    private static void appendNumber(final StringBuilder text, final Number number) {
        if ((number instanceof Double || number instanceof Float) && !Double.isFinite(number.doubleValue())) {
            throw new IllegalArgumentException("JSON: expected a finite number, got " + number);
        }
        text.append(number);
    }

    private static void appendMap(final StringBuilder text, final Map<?, ?> map) {
        text.append('{');
        String separator = "";
        for (final Map.Entry<?, ?> entry : map.entrySet()) {
            text.append(separator);
            appendString(text, String.valueOf(entry.getKey()));
            text.append(": ");
            append(text, entry.getValue());
            separator = ", ";
        }
        text.append('}');
    }

    private static void appendList(final StringBuilder text, final Collection<?> list) {
        text.append('[');
        String separator = "";
        for (final Object element : list) {
            text.append(separator);
            append(text, element);
            separator = ", ";
        }
        text.append(']');
    }

    private static void appendString(final StringBuilder text, final String string) {
        text.append('"');
        for (int i = 0; i < string.length(); i++) {
            final char c = string.charAt(i);
            switch (c) {
                case '"' -> text.append("\\\"");
                case '\\' -> text.append("\\\\");
                case '\n' -> text.append("\\n");
                case '\r' -> text.append("\\r");
                case '\t' -> text.append("\\t");
                default -> {
                    // Lone surrogates have no UTF-8 form: the escape keeps the output decodable.
                    if (c < 0x20 || c == 0x7f || Character.isSurrogate(c)) {
                        text.append("\\u").append(hex4(c));
                    } else {
                        text.append(c);
                    }
                }
            }
        }
        text.append('"');
    }

    private static String hex4(final char c) {
        return java.util.HexFormat.of().toHexDigits(c);
    }
}
