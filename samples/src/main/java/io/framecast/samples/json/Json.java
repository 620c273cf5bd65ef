package io.framecast.samples.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.SerializableString;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.io.CharacterEscapes;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.core.util.MinimalPrettyPrinter;
import java.io.IOException;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// JSON texts from and to plain values: Map (with String keys), Collection, String, Number, Boolean, null; over
/// the parser and the generator of jackson-core. Stateless: any thread.
public final class Json {
    private static final int DEPTH_MAX = 64;
    /// Surrogates lie above. A lone one has no UTF-8 form: the escape keeps the output decodable.
    private static final int ESCAPED_ABOVE = 0xd7ff;

    private static final JsonFactory FACTORY = new JsonFactoryBuilder()
            .highestNonEscapedChar(ESCAPED_ABOVE)
            .characterEscapes(new Escapes())
            .disable(JsonWriteFeature.WRITE_HEX_UPPER_CASE)
            .streamReadConstraints(
                    StreamReadConstraints.builder().maxNestingDepth(DEPTH_MAX).build())
            .build();

    private Json() {}

    /// One line, keys in the map's order.
    ///
    /// @throws IllegalArgumentException for any other type, and for numbers that JSON cannot express (NaN,
    ///     infinities)
    public static String write(final @Nullable Object value) {
        final StringWriter text = new StringWriter();
        try (JsonGenerator generator = FACTORY.createGenerator(text)) {
            generator.setPrettyPrinter(new OneLine());
            write(generator, value);
        } catch (final IOException e) {
            throw new IllegalArgumentException("JSON: " + e.getMessage(), e);
        }
        return text.toString();
    }

    private static void write(final JsonGenerator generator, final @Nullable Object value) throws IOException {
        switch (value) {
            case null -> generator.writeNull();
            case String string -> generator.writeString(string);
            case Boolean flag -> generator.writeBoolean(flag);
            case Number number -> {
                if (!Double.isFinite(number.doubleValue())) {
                    throw new IllegalArgumentException("JSON: expected a finite number, got " + number);
                }
                generator.writeNumber(number.toString());
            }
            case Map<?, ?> map -> {
                generator.writeStartObject();
                for (final Map.Entry<?, ?> entry : map.entrySet()) {
                    generator.writeFieldName(String.valueOf(entry.getKey()));
                    write(generator, entry.getValue());
                }
                generator.writeEndObject();
            }
            case Collection<?> list -> {
                generator.writeStartArray();
                for (final Object element : list) {
                    write(generator, element);
                }
                generator.writeEndArray();
            }
            default -> throw new IllegalArgumentException("JSON: cannot write a " + value.getClass());
        }
    }

    /// Reads one JSON text. Numbers without a fraction and an exponent become Long, others Double; objects
    /// keep the order of their keys.
    ///
    /// @throws IllegalArgumentException when the text is not exactly one JSON value, or a number exceeds 64
    ///     bits
    public static @Nullable Object parse(final String text) {
        try (JsonParser parser = FACTORY.createParser(text)) {
            parser.nextToken();
            final Object value = read(parser);
            if (parser.nextToken() != null) {
                throw new IllegalArgumentException("JSON: expected the end at " + parser.currentTokenLocation());
            }
            return value;
        } catch (final IOException e) {
            throw new IllegalArgumentException("JSON: " + e.getMessage(), e);
        }
    }

    private static @Nullable Object read(final JsonParser parser) throws IOException {
        return switch (parser.currentToken()) {
            case START_OBJECT -> {
                final Map<String, @Nullable Object> map = new LinkedHashMap<>();
                while (parser.nextToken() != JsonToken.END_OBJECT) {
                    final String key = parser.currentName();
                    parser.nextToken();
                    map.put(key, read(parser));
                }
                yield map;
            }
            case START_ARRAY -> {
                final List<@Nullable Object> list = new ArrayList<>();
                while (parser.nextToken() != JsonToken.END_ARRAY) {
                    list.add(read(parser));
                }
                yield list;
            }
            case VALUE_STRING -> parser.getText();
            case VALUE_NUMBER_INT -> parser.getLongValue();
            case VALUE_NUMBER_FLOAT -> parser.getDoubleValue();
            case VALUE_TRUE -> true;
            case VALUE_FALSE -> false;
            case VALUE_NULL -> null;
            case null, default -> throw new IllegalArgumentException("JSON: expected a value, got nothing");
        };
    }

    /// The control character that JSON leaves alone, and terminals do not.
    private static final class Escapes extends CharacterEscapes {
        private static final long serialVersionUID = 1L;
        private static final int DELETE = 0x7f;

        @Override
        public int[] getEscapeCodesForAscii() {
            final int[] codes = standardAsciiEscapesForJSON();
            codes[DELETE] = ESCAPE_STANDARD;
            return codes;
        }

        @Override
        public @Nullable SerializableString getEscapeSequence(final int character) {
            return null;
        }
    }

    /// A space behind each comma and colon, for people.
    private static final class OneLine extends MinimalPrettyPrinter {
        private static final long serialVersionUID = 1L;

        @Override
        public void writeObjectFieldValueSeparator(final JsonGenerator generator) throws IOException {
            generator.writeRaw(": ");
        }

        @Override
        public void writeObjectEntrySeparator(final JsonGenerator generator) throws IOException {
            generator.writeRaw(", ");
        }

        @Override
        public void writeArrayValueSeparator(final JsonGenerator generator) throws IOException {
            generator.writeRaw(", ");
        }
    }
}
