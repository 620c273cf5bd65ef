package io.framecast.engine.codec;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.Registration;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.KryoBufferOverflowException;
import com.esotericsoftware.kryo.io.Output;
import com.esotericsoftware.kryo.util.DefaultClassResolver;
import io.framecast.api.Codec;
import io.framecast.api.FrameOptions;
import io.framecast.api.error.CodecException;
import io.framecast.api.error.ConfigException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Typed metadata by Kryo, for application payloads beside a frame and never for the frame itself.
///
/// Layout of a message: `[varint record id][components in order of declaration]`; the id follows from the
/// record's place in the list, so both ends must list the same records in the same order.
///
/// A component may be a primitive or its box, a String, an array of primitives or Strings, an enum, a
/// registered record, or an Optional, List, Set or Map of these. All but primitives may be null. Decoded
/// collections keep their order and cannot be changed.
///
/// Kryo's stock serializers believe every length they read: a message of five bytes ends in an
/// OutOfMemoryError. None of them is used; see [Shape] for the rules that ours keep. No class is ever looked up
/// by name.
///
/// Threading: one thread at a time.
public final class KryoCodec implements Codec {
    /// Records within records: deeper messages are refused, so that no message can exhaust the stack.
    static final int DEPTH_MAX = 16;

    private final Kryo kryo = new Kryo(new NamelessClassResolver(), null);
    private final Output output = new Output(FrameOptions.METADATA_BYTES_MAX, FrameOptions.METADATA_BYTES_MAX);
    private final Map<Class<?>, RecordShape> shapes = new LinkedHashMap<>();

    /// Makes a codec for exactly these records.
    ///
    /// @throws ConfigException naming the record and component that cannot be encoded
    public KryoCodec(final List<Class<? extends Record>> records) {
        kryo.setRegistrationRequired(true);
        kryo.setReferences(false);
        kryo.setMaxDepth(DEPTH_MAX);
        for (final Class<? extends Record> type : records) {
            if (!type.isRecord()) {
                throw new ConfigException("codec: expected records, got " + type.getName());
            }
            if (shapes.putIfAbsent(type, new RecordShape(type)) != null) {
                throw new ConfigException("codec: record " + type.getName() + " is listed twice, list it once");
            }
        }
        final ShapeFactory factory = new ShapeFactory(shapes);
        shapes.forEach((type, shape) -> {
            shape.link(factory);
            kryo.register(type, shape);
        });
    }

    @Override
    public byte[] encode(final Record value) {
        final Class<?> type = value.getClass();
        final RecordShape shape = shapeOf(type);
        output.reset();
        try {
            kryo.writeClass(output, type);
            kryo.writeObject(output, value, shape);
            return output.toBytes();
        } catch (final KryoBufferOverflowException e) {
            throw new CodecException(
                    "record " + type.getName() + " encodes to more than " + FrameOptions.METADATA_BYTES_MAX
                            + " bytes: shorten it, or send it as a frame",
                    e);
        } catch (final RuntimeException | StackOverflowError e) {
            kryo.reset();
            throw new CodecException("record " + type.getName() + " cannot be encoded: " + oneLine(e), e);
        }
    }

    @Override
    public <T extends Record> T decode(final Class<T> type, final byte[] bytes) {
        final RecordShape shape = shapeOf(type);
        if (bytes.length > FrameOptions.METADATA_BYTES_MAX) {
            throw new CodecException(
                    "metadata: expected at most " + FrameOptions.METADATA_BYTES_MAX + " bytes, got " + bytes.length);
        }
        try {
            return type.cast(decodeOne(type, shape, new Input(bytes)));
        } catch (final RuntimeException | Error e) {
            // Errors too: a record's own constructor, equals or hashCode runs here, on values that a peer
            // chose.
            kryo.reset();
            throw new CodecException("metadata is not a " + type.getName() + ": " + oneLine(e), e);
        }
    }

    private Object decodeOne(final Class<?> type, final RecordShape shape, final Input input) {
        final Registration registration = kryo.readClass(input);
        if (registration == null || registration.getType() != type) {
            throw new KryoException("the bytes begin with another type; list the same records at both ends");
        }
        final Object value = kryo.readObject(input, type, shape);
        if (input.position() != input.limit()) {
            throw new KryoException((input.limit() - input.position()) + " bytes are left over");
        }
        return value;
    }

    private RecordShape shapeOf(final Class<?> type) {
        final RecordShape shape = shapes.get(type);
        if (shape == null) {
            throw new CodecException(
                    "record " + type.getName() + " is not registered: list it where the codec is made");
        }
        return shape;
    }

    /// First line of a message, printable: it may hold bytes that a peer sent.
    private static String oneLine(final Throwable failure) {
        final String message = failure.getMessage();
        if (message == null) {
            return failure.getClass().getSimpleName();
        }
        final StringBuilder line = new StringBuilder();
        for (int i = 0; i < Math.min(message.length(), 200) && message.charAt(i) != '\n'; i++) {
            final char c = message.charAt(i);
            line.append(c < ' ' || c > '~' ? '?' : c);
        }
        return line.toString();
    }

    /// Kryo falls back to class names in two places, and one of them loads the class that the bytes name.
    private static final class NamelessClassResolver extends DefaultClassResolver {
        @Override
        @SuppressWarnings("rawtypes")
        protected void writeName(final Output output, final Class type, final Registration registration) {
            throw new KryoException("classes by name are never written");
        }

        @Override
        protected Registration readName(final Input input) {
            throw new KryoException("classes by name are never read");
        }
    }
}
