package io.framecast.engine.codec;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import java.util.Objects;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/// How the values of one component type are written and read.
///
/// Two rules make hostile bytes harmless. Every value takes at least one byte, or its fixed width within an
/// array. A reader takes memory only for elements that the remaining bytes can hold. A refusal is a
/// [KryoException], which [KryoCodec] turns into a CodecException.
///
/// @param writer writes a value, which may be null
/// @param reader reads a value, which may be null
record Shape(NullableWriter writer, Reader reader) {
    /// [#readCount] returns it for null.
    static final int NULL_COUNT = -1;

    private static final byte ABSENT = 0;
    private static final byte PRESENT = 1;

    interface Writer {
        void write(Kryo kryo, Output output, Object value);
    }

    interface NullableWriter {
        void write(Kryo kryo, Output output, @Nullable Object value);
    }

    interface Reader {
        @Nullable
        Object read(Kryo kryo, Input input);
    }

    /// Reads as many elements as were counted.
    interface CountReader {
        Object read(Kryo kryo, Input input, int count);
    }

    /// A value that is never null.
    static Shape of(final Writer writer, final Reader reader) {
        return new Shape((kryo, output, value) -> writer.write(kryo, output, Objects.requireNonNull(value)), reader);
    }

    /// A value of another shape, or null, behind a presence byte.
    static Shape nullable(final Shape present) {
        return new Shape(
                (kryo, output, value) -> {
                    writePresence(output, value != null);
                    if (value != null) {
                        present.write(kryo, output, value);
                    }
                },
                (kryo, input) -> readPresence(input) ? present.read(kryo, input) : null);
    }

    /// Elements behind their count, or null.
    ///
    /// @param elementBytes the least that an element takes
    static Shape counted(
            final int elementBytes, final ToIntFunction<Object> count, final Writer writer, final CountReader reader) {
        return new Shape(
                (kryo, output, value) -> {
                    writeCount(output, value == null ? NULL_COUNT : count.applyAsInt(value));
                    if (value != null) {
                        writer.write(kryo, output, value);
                    }
                },
                (kryo, input) -> {
                    final int elements = readCount(input, elementBytes);
                    return elements == NULL_COUNT ? null : reader.read(kryo, input, elements);
                });
    }

    void write(final Kryo kryo, final Output output, final @Nullable Object value) {
        writer.write(kryo, output, value);
    }

    @Nullable
    Object read(final Kryo kryo, final Input input) {
        return reader.read(kryo, input);
    }

    /// Writes a count plus one; zero is null.
    static void writeCount(final Output output, final int count) {
        output.writeVarInt(count + 1, true);
    }

    /// Reads a count and refuses one that the remaining bytes cannot hold.
    ///
    /// @param elementBytes the least that an element takes
    static int readCount(final Input input, final int elementBytes) {
        final int count = input.readVarInt(true) - 1;
        if (count == NULL_COUNT) {
            return NULL_COUNT;
        }
        final int remainingBytes = input.limit() - input.position();
        if (count < 0 || (long) count * elementBytes > remainingBytes) {
            throw new KryoException(
                    "a count of " + Integer.toUnsignedString(count) + " with " + remainingBytes + " bytes remaining");
        }
        return count;
    }

    static void writePresence(final Output output, final boolean present) {
        output.writeByte(present ? PRESENT : ABSENT);
    }

    static boolean readPresence(final Input input) {
        final byte presence = input.readByte();
        if (presence != ABSENT && presence != PRESENT) {
            throw new KryoException("expected a 0 or 1, got " + presence);
        }
        return presence == PRESENT;
    }
}
