package io.framecast.engine.codec;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.dataformat.cbor.CBORFactory;
import com.fasterxml.jackson.dataformat.cbor.CBORGenerator;
import io.framecast.api.error.CodecException;
import io.framecast.api.format.ElementType;
import io.framecast.api.format.FrameFormat;
import io.framecast.api.format.FrameRate;
import io.framecast.api.format.Picture;
import io.framecast.api.format.PixelFormat;
import io.framecast.api.format.Plane;
import io.framecast.api.format.Samples;
import io.framecast.api.format.Tensor;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// A [FrameFormat] as CBOR (RFC 8949): a map with text keys, as docs/formats.md describes it. Keys that this version
/// does not know are passed over.
///
/// Stateless; any thread.
public final class FormatCodec {
    /// Longest encoding that the protocol carries.
    public static final int BYTES_MAX = 1024;

    private static final int VERSION = 1;
    private static final int NESTING_MAX = 8;
    private static final int RANGES = Picture.Range.values().length;
    private static final CBORFactory CBOR = CBORFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(NESTING_MAX)
                    .maxStringLength(BYTES_MAX)
                    .maxNameLength(BYTES_MAX)
                    .build())
            .build();

    private FormatCodec() {}

    /// @throws IllegalArgumentException when it is longer than [#BYTES_MAX]
    public static byte[] encode(final FrameFormat format) {
        final ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (CBORGenerator cbor = CBOR.createGenerator(out)) {
            write(cbor, format);
        } catch (final IOException e) {
            throw new IllegalArgumentException("format: " + e.getMessage(), e);
        }
        if (out.size() > BYTES_MAX) {
            throw new IllegalArgumentException(
                    "format: expected at most " + BYTES_MAX + " bytes, got " + out.size() + "; shorten its keys");
        }
        return out.toByteArray();
    }

    private static void write(final CBORGenerator cbor, final FrameFormat format) throws IOException {
        final int fields = 1
                + (format.tensor().isPresent() ? 1 : 0)
                + (format.picture().isPresent() ? 1 : 0)
                + (format.samples().isPresent() ? 1 : 0)
                + (format.rate().isPresent() ? 1 : 0)
                + (format.keys().isEmpty() ? 0 : 1);
        cbor.writeStartObject(format, fields);
        cbor.writeNumberField("v", VERSION);
        if (format.tensor().isPresent()) {
            write(cbor, format.tensor().get());
        }
        if (format.picture().isPresent()) {
            write(cbor, format.picture().get());
        }
        if (format.samples().isPresent()) {
            final Samples samples = format.samples().get();
            cbor.writeFieldName("samples");
            cbor.writeStartObject(samples, 2);
            cbor.writeNumberField("rate", samples.rate());
            cbor.writeNumberField("channels", samples.channels());
            cbor.writeEndObject();
        }
        if (format.rate().isPresent()) {
            final FrameRate rate = format.rate().get();
            writeNumbers(cbor, "rate", List.of((long) rate.numerator(), (long) rate.denominator()));
        }
        if (!format.keys().isEmpty()) {
            cbor.writeFieldName("keys");
            cbor.writeStartObject(format.keys(), format.keys().size());
            for (final Map.Entry<String, String> key : format.keys().entrySet()) {
                cbor.writeStringField(key.getKey(), key.getValue());
            }
            cbor.writeEndObject();
        }
        cbor.writeEndObject();
    }

    private static void write(final CBORGenerator cbor, final Tensor tensor) throws IOException {
        cbor.writeFieldName("tensor");
        cbor.writeStartObject(tensor, tensor.strides().isEmpty() ? 2 : 3);
        final ElementType type = tensor.type();
        writeNumbers(cbor, "type", List.of((long) type.kind().code(), (long) type.bits(), (long) type.lanes()));
        writeNumbers(cbor, "shape", tensor.shape());
        if (!tensor.strides().isEmpty()) {
            writeNumbers(cbor, "strides", tensor.strides());
        }
        cbor.writeEndObject();
    }

    private static void write(final CBORGenerator cbor, final Picture picture) throws IOException {
        cbor.writeFieldName("picture");
        cbor.writeStartObject(picture, 5);
        cbor.writeStringField("pixels", picture.pixels().ffmpegName());
        cbor.writeNumberField("width", picture.width());
        cbor.writeNumberField("height", picture.height());
        cbor.writeFieldName("planes");
        cbor.writeStartArray(picture, picture.planes().size());
        for (final Plane plane : picture.planes()) {
            writeNumbers(cbor, List.of(plane.offset(), plane.stride()));
        }
        cbor.writeEndArray();
        cbor.writeNumberField("range", picture.range().ordinal());
        cbor.writeEndObject();
    }

    private static void writeNumbers(final CBORGenerator cbor, final String name, final List<Long> values)
            throws IOException {
        cbor.writeFieldName(name);
        writeNumbers(cbor, values);
    }

    private static void writeNumbers(final CBORGenerator cbor, final List<Long> values) throws IOException {
        cbor.writeStartArray(values, values.size());
        for (final long value : values) {
            cbor.writeNumber(value);
        }
        cbor.writeEndArray();
    }

    /// @param bytes of a source, not checked by anything
    /// @throws CodecException with one line that names the fault
    public static FrameFormat decode(final byte[] bytes) {
        if (bytes.length > BYTES_MAX) {
            throw new CodecException("format: expected at most " + BYTES_MAX + " bytes, got " + bytes.length);
        }
        try (JsonParser cbor = CBOR.createParser(bytes)) {
            final FrameFormat format = new Reader(cbor).format();
            if (cbor.nextToken() != null) {
                throw new IllegalArgumentException("bytes behind its end");
            }
            return format;
        } catch (final IOException | IllegalArgumentException | ArithmeticException e) {
            throw new CodecException(
                    "format: "
                            + String.valueOf(e.getMessage()).lines().findFirst().orElse(""),
                    e);
        }
    }

    private record Reader(JsonParser cbor) {
        private FrameFormat format() throws IOException {
            FrameFormat format = FrameFormat.EMPTY;
            long version = 0;
            begin(JsonToken.START_OBJECT);
            while (hasField()) {
                switch (cbor.currentName()) {
                    case "v" -> version = number();
                    case "tensor" -> format = format.withTensor(tensor());
                    case "picture" -> format = format.withPicture(picture());
                    case "samples" -> format = format.withSamples(samples());
                    case "rate" -> format = format.withRate(rate());
                    case "keys" -> format = keys(format);
                    default -> pass();
                }
            }
            if (version < VERSION) {
                throw new IllegalArgumentException("expected version " + VERSION + " or later, got " + version);
            }
            return format;
        }

        private Tensor tensor() throws IOException {
            List<Long> type = List.of();
            List<Long> shape = List.of();
            List<Long> strides = List.of();
            begin(JsonToken.START_OBJECT);
            while (hasField()) {
                switch (cbor.currentName()) {
                    case "type" -> type = numbers(3);
                    case "shape" -> shape = numbers(Tensor.DIMENSIONS_MAX);
                    case "strides" -> strides = numbers(Tensor.DIMENSIONS_MAX);
                    default -> pass();
                }
            }
            if (type.size() != 3) {
                throw new IllegalArgumentException("expected a type of 3 numbers, got " + type);
            }
            final ElementType.Kind kind = ElementType.Kind.of(Math.toIntExact(type.get(0)));
            return new Tensor(
                    new ElementType(kind, Math.toIntExact(type.get(1)), Math.toIntExact(type.get(2))), shape, strides);
        }

        private Picture picture() throws IOException {
            Optional<PixelFormat> pixels = Optional.empty();
            String name = "";
            long width = 0;
            long height = 0;
            long range = 0;
            final List<Plane> planes = new ArrayList<>();
            begin(JsonToken.START_OBJECT);
            while (hasField()) {
                switch (cbor.currentName()) {
                    case "pixels" -> {
                        name = text();
                        pixels = PixelFormat.of(name);
                    }
                    case "width" -> width = number();
                    case "height" -> height = number();
                    case "planes" -> planes(planes);
                    case "range" -> range = number();
                    default -> pass();
                }
            }
            if (pixels.isEmpty()) {
                throw new IllegalArgumentException("unknown pixel format " + name);
            }
            return new Picture(
                    pixels.get(),
                    Math.toIntExact(width),
                    Math.toIntExact(height),
                    planes,
                    range < 0 || range >= RANGES ? Picture.Range.UNKNOWN : Picture.Range.values()[(int) range]);
        }

        private void planes(final List<Plane> planes) throws IOException {
            begin(JsonToken.START_ARRAY);
            while (cbor.nextToken() == JsonToken.START_ARRAY) {
                final List<Long> plane = rest(2);
                if (plane.size() != 2) {
                    throw new IllegalArgumentException("expected a plane of 2 numbers, got " + plane);
                }
                planes.add(new Plane(plane.get(0), plane.get(1)));
            }
            require(JsonToken.END_ARRAY);
        }

        private Samples samples() throws IOException {
            double rate = 0;
            long channels = 0;
            begin(JsonToken.START_OBJECT);
            while (hasField()) {
                switch (cbor.currentName()) {
                    case "rate" -> rate = real();
                    case "channels" -> channels = number();
                    default -> pass();
                }
            }
            return new Samples(rate, Math.toIntExact(channels));
        }

        private FrameRate rate() throws IOException {
            final List<Long> fraction = numbers(2);
            if (fraction.size() != 2) {
                throw new IllegalArgumentException("expected a rate of 2 numbers, got " + fraction);
            }
            return new FrameRate(Math.toIntExact(fraction.get(0)), Math.toIntExact(fraction.get(1)));
        }

        private FrameFormat keys(final FrameFormat format) throws IOException {
            FrameFormat with = format;
            begin(JsonToken.START_OBJECT);
            while (hasField()) {
                final String key = valid(cbor.currentName());
                with = with.withKey(key, text());
            }
            return with;
        }

        private List<Long> numbers(final int most) throws IOException {
            begin(JsonToken.START_ARRAY);
            return rest(most);
        }

        private List<Long> rest(final int most) throws IOException {
            final List<Long> values = new ArrayList<>();
            while (cbor.nextToken() == JsonToken.VALUE_NUMBER_INT) {
                if (values.size() == most) {
                    throw new IllegalArgumentException("expected at most " + most + " numbers");
                }
                values.add(cbor.getLongValue());
            }
            require(JsonToken.END_ARRAY);
            return values;
        }

        private boolean hasField() throws IOException {
            if (cbor.nextToken() == JsonToken.FIELD_NAME) {
                return true;
            }
            require(JsonToken.END_OBJECT);
            return false;
        }

        private void pass() throws IOException {
            cbor.nextToken();
            cbor.skipChildren();
        }

        private long number() throws IOException {
            begin(JsonToken.VALUE_NUMBER_INT);
            return cbor.getLongValue();
        }

        private double real() throws IOException {
            if (!cbor.nextToken().isNumeric()) {
                throw new IllegalArgumentException("expected a number, got " + cbor.currentToken());
            }
            return cbor.getDoubleValue();
        }

        private String text() throws IOException {
            begin(JsonToken.VALUE_STRING);
            return valid(cbor.getText());
        }

        // Bytes that are no UTF-8 come as surrogates without the other half, which no encoder takes.
        private static String valid(final String text) {
            if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
                throw new IllegalArgumentException("expected UTF-8");
            }
            return text;
        }

        private void begin(final JsonToken token) throws IOException {
            cbor.nextToken();
            require(token);
        }

        private void require(final JsonToken token) {
            if (cbor.currentToken() != token) {
                throw new IllegalArgumentException("expected " + token + ", got " + cbor.currentToken());
            }
        }
    }
}
