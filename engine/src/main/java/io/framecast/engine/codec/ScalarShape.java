package io.framecast.engine.codec;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// A primitive, or its box with a presence byte before it. `int` and `long` are zigzag varints: most are small.
final class ScalarShape extends Shape {
    private static final Map<Class<?>, ScalarShape> SHAPES = new HashMap<>();

    static {
        add(boolean.class, Boolean.class, Shape::writePresence, Shape::readPresence);
        add(byte.class, Byte.class, (out, value) -> out.writeByte(value), Input::readByte);
        add(char.class, Character.class, (out, value) -> out.writeChar(value), Input::readChar);
        add(short.class, Short.class, (out, value) -> out.writeShort(value), Input::readShort);
        add(int.class, Integer.class, (out, value) -> out.writeVarInt(value, false), in -> in.readVarInt(false));
        add(long.class, Long.class, (out, value) -> out.writeVarLong(value, false), in -> in.readVarLong(false));
        add(float.class, Float.class, Output::writeFloat, Input::readFloat);
        add(double.class, Double.class, Output::writeDouble, Input::readDouble);
    }

    private final BiConsumer<Output, Object> writer;
    private final Function<Input, Object> reader;
    private final boolean nullable;

    private ScalarShape(
            final BiConsumer<Output, Object> writer, final Function<Input, Object> reader, final boolean nullable) {
        this.writer = writer;
        this.reader = reader;
        this.nullable = nullable;
    }

    static @Nullable Shape of(final Class<?> type) {
        return SHAPES.get(type);
    }

    private static <T> void add(
            final Class<?> primitive,
            final Class<T> box,
            final BiConsumer<Output, T> writer,
            final Function<Input, T> reader) {
        final BiConsumer<Output, Object> write = (out, value) -> writer.accept(out, box.cast(value));
        final Function<Input, Object> read = reader::apply;
        SHAPES.put(primitive, new ScalarShape(write, read, false));
        SHAPES.put(box, new ScalarShape(write, read, true));
    }

    @Override
    public void write(final Kryo kryo, final Output output, final @Nullable Object value) {
        if (nullable) {
            writePresence(output, value != null);
        }
        if (value != null) {
            writer.accept(output, value);
        }
    }

    @Override
    public @Nullable Object read(final Kryo kryo, final Input input, final Class<?> type) {
        return nullable && !readPresence(input) ? null : reader.apply(input);
    }
}
