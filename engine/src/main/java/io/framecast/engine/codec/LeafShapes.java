package io.framecast.engine.codec;

import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Shapes of values without elements of other shapes:
///
/// - a primitive, or its box with a presence byte before it; `int` and `long` are zigzag varints, since most
///   are small;
/// - a String as `[byte count + 1][UTF-8]`, strict both ways: a text that would not come back the same is
///   refused;
/// - an array of primitives in fixed width, or of Strings: `[count + 1][elements]`. A fixed width lets the
///   count say how many bytes must follow;
/// - an enum constant as `[ordinal + 1]`.
final class LeafShapes {
    private static final Map<Class<?>, Shape> SHAPES = new HashMap<>();

    static {
        scalar(boolean.class, Boolean.class, Shape::writePresence, Shape::readPresence);
        scalar(byte.class, Byte.class, (out, value) -> out.writeByte(value), Input::readByte);
        scalar(char.class, Character.class, (out, value) -> out.writeChar(value), Input::readChar);
        scalar(short.class, Short.class, (out, value) -> out.writeShort(value), Input::readShort);
        scalar(int.class, Integer.class, (out, value) -> out.writeVarInt(value, false), in -> in.readVarInt(false));
        scalar(long.class, Long.class, (out, value) -> out.writeVarLong(value, false), in -> in.readVarLong(false));
        scalar(float.class, Float.class, Output::writeFloat, Input::readFloat);
        scalar(double.class, Double.class, Output::writeDouble, Input::readDouble);

        array(byte[].class, Byte.BYTES, (out, a) -> out.writeBytes(a, 0, a.length), Input::readBytes);
        array(boolean[].class, 1, (out, a) -> out.writeBooleans(a, 0, a.length), Input::readBooleans);
        array(char[].class, Character.BYTES, (out, a) -> out.writeChars(a, 0, a.length), Input::readChars);
        array(short[].class, Short.BYTES, (out, a) -> out.writeShorts(a, 0, a.length), Input::readShorts);
        array(int[].class, Integer.BYTES, (out, a) -> out.writeInts(a, 0, a.length), Input::readInts);
        array(long[].class, Long.BYTES, (out, a) -> out.writeLongs(a, 0, a.length), Input::readLongs);
        array(float[].class, Float.BYTES, (out, a) -> out.writeFloats(a, 0, a.length), Input::readFloats);
        array(double[].class, Double.BYTES, (out, a) -> out.writeDoubles(a, 0, a.length), Input::readDoubles);
        array(String[].class, 1, LeafShapes::writeStrings, LeafShapes::readStrings);

        SHAPES.put(
                String.class,
                new Shape((_, output, value) -> writeString(output, (String) value), (_, input) -> readString(input)));
    }

    private LeafShapes() {}

    static @Nullable Shape of(final Class<?> type) {
        return type.isEnum() ? constants(type.getEnumConstants()) : SHAPES.get(type);
    }

    private static <T> void scalar(
            final Class<?> primitive,
            final Class<T> box,
            final BiConsumer<Output, T> writer,
            final Function<Input, T> reader) {
        final Shape shape = Shape.of(
                (_, output, value) -> writer.accept(output, box.cast(value)), (_, input) -> reader.apply(input));
        SHAPES.put(primitive, shape);
        SHAPES.put(box, Shape.nullable(shape));
    }

    private static <A> void array(
            final Class<A> type,
            final int elementBytes,
            final BiConsumer<Output, A> writer,
            final BiFunction<Input, Integer, A> reader) {
        SHAPES.put(
                type,
                Shape.counted(
                        elementBytes,
                        Array::getLength,
                        (_, output, array) -> writer.accept(output, type.cast(array)),
                        (_, input, count) -> reader.apply(input, count)));
    }

    private static Shape constants(final Object[] constants) {
        return new Shape(
                (_, output, value) ->
                        Shape.writeCount(output, value == null ? Shape.NULL_COUNT : ((Enum<?>) value).ordinal()),
                (_, input) -> {
                    final int ordinal = input.readVarInt(true) - 1;
                    if (ordinal < Shape.NULL_COUNT || ordinal >= constants.length) {
                        throw new KryoException(
                                "an enum of " + constants.length + " constants has no number " + ordinal);
                    }
                    return ordinal == Shape.NULL_COUNT ? null : constants[ordinal];
                });
    }

    private static void writeStrings(final Output output, final String[] strings) {
        for (final String string : strings) {
            writeString(output, string);
        }
    }

    private static String[] readStrings(final Input input, final int count) {
        final String[] strings = new String[count];
        for (int i = 0; i < count; i++) {
            strings[i] = readString(input);
        }
        return strings;
    }

    private static void writeString(final Output output, final @Nullable String value) {
        if (value == null) {
            Shape.writeCount(output, Shape.NULL_COUNT);
            return;
        }
        try {
            final ByteBuffer utf8 = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(value));
            Shape.writeCount(output, utf8.remaining());
            output.writeBytes(utf8.array(), utf8.arrayOffset(), utf8.remaining());
        } catch (final CharacterCodingException e) {
            throw new KryoException("a String holds half of a surrogate pair", e);
        }
    }

    @SuppressWarnings("NullAway") // As an element of String[], which the checker takes to hold no nulls.
    private static String readString(final Input input) {
        final int bytes = Shape.readCount(input, 1);
        if (bytes == Shape.NULL_COUNT) {
            return null;
        }
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(input.readBytes(bytes)))
                    .toString();
        } catch (final CharacterCodingException e) {
            throw new KryoException("a String is not UTF-8", e);
        }
    }
}
