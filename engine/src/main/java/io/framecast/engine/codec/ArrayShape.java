package io.framecast.engine.codec;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import java.lang.reflect.Array;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/// An array of primitives in fixed width, or of Strings: `[count + 1][elements]`. Fixed, because a count then
/// says exactly how many bytes must follow.
final class ArrayShape extends Shape {
    private static final Map<Class<?>, ArrayShape> SHAPES = new HashMap<>();
    private static final StringShape STRING = new StringShape();

    static {
        add(byte[].class, Byte.BYTES, (out, a) -> out.writeBytes(a, 0, a.length), Input::readBytes);
        add(boolean[].class, 1, (out, a) -> out.writeBooleans(a, 0, a.length), Input::readBooleans);
        add(char[].class, Character.BYTES, (out, a) -> out.writeChars(a, 0, a.length), Input::readChars);
        add(short[].class, Short.BYTES, (out, a) -> out.writeShorts(a, 0, a.length), Input::readShorts);
        add(int[].class, Integer.BYTES, (out, a) -> out.writeInts(a, 0, a.length), Input::readInts);
        add(long[].class, Long.BYTES, (out, a) -> out.writeLongs(a, 0, a.length), Input::readLongs);
        add(float[].class, Float.BYTES, (out, a) -> out.writeFloats(a, 0, a.length), Input::readFloats);
        add(double[].class, Double.BYTES, (out, a) -> out.writeDoubles(a, 0, a.length), Input::readDoubles);
        add(String[].class, 1, ArrayShape::writeStrings, ArrayShape::readStrings);
    }

    /// Writes all elements.
    private interface Writer<A> {
        void write(Output output, A array);
    }

    private final int elementBytes;
    private final Writer<Object> writer;
    private final BiFunction<Input, Integer, Object> reader;

    private ArrayShape(
            final int elementBytes, final Writer<Object> writer, final BiFunction<Input, Integer, Object> reader) {
        this.elementBytes = elementBytes;
        this.writer = writer;
        this.reader = reader;
    }

    static @Nullable Shape of(final Class<?> type) {
        return SHAPES.get(type);
    }

    private static <A> void add(
            final Class<A> type,
            final int elementBytes,
            final Writer<A> writer,
            final BiFunction<Input, Integer, A> reader) {
        SHAPES.put(
                type, new ArrayShape(elementBytes, (out, array) -> writer.write(out, type.cast(array)), reader::apply));
    }

    @Override
    public void write(final Kryo kryo, final Output output, final @Nullable Object value) {
        if (value == null) {
            writeCount(output, NULL_COUNT);
            return;
        }
        writeCount(output, Array.getLength(value));
        writer.write(output, value);
    }

    @Override
    public @Nullable Object read(final Kryo kryo, final Input input, final Class<?> type) {
        final int count = readCount(input, elementBytes);
        return count == NULL_COUNT ? null : reader.apply(input, count);
    }

    private static void writeStrings(final Output output, final String[] strings) {
        for (final String string : strings) {
            STRING.writeString(output, string);
        }
    }

    private static String[] readStrings(final Input input, final int count) {
        final String[] strings = new String[count];
        for (int i = 0; i < count; i++) {
            strings[i] = STRING.readString(input);
        }
        return strings;
    }
}
