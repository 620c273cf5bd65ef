package io.framecast.engine.codec;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import org.jspecify.annotations.Nullable;

/// An enum constant as `[ordinal + 1]`.
final class EnumShape extends Shape {
    private final Object[] constants;

    EnumShape(final Class<?> type) {
        constants = type.getEnumConstants();
    }

    @Override
    public void write(final Kryo kryo, final Output output, final @Nullable Object value) {
        writeCount(output, value == null ? NULL_COUNT : ((Enum<?>) value).ordinal());
    }

    @Override
    public @Nullable Object read(final Kryo kryo, final Input input, final Class<?> type) {
        final int ordinal = input.readVarInt(true) - 1;
        if (ordinal == NULL_COUNT) {
            return null;
        }
        if (ordinal < 0 || ordinal >= constants.length) {
            throw new KryoException("an enum of " + constants.length + " constants has no number " + ordinal);
        }
        return constants[ordinal];
    }
}
