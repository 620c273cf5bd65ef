package io.framecast.engine.codec;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.Serializer;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import org.jspecify.annotations.Nullable;

/// How the values of one component type are written and read.
///
/// Two rules make hostile bytes harmless: every value takes at least one byte (or its fixed width, within an
/// array), and memory is taken only for elements that the remaining bytes can hold. A refusal is a
/// [KryoException], which [KryoCodec] turns into a CodecException.
abstract class Shape extends Serializer<Object> {
    /// What [#readCount] answers for null.
    static final int NULL_COUNT = -1;

    private static final byte ABSENT = 0;
    private static final byte PRESENT = 1;

    Shape() {
        super(true, true);
    }

    @Override
    public abstract void write(Kryo kryo, Output output, @Nullable Object value);

    @Override
    public abstract @Nullable Object read(Kryo kryo, Input input, Class<?> type);

    /// Counts are written plus one; zero is null.
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
