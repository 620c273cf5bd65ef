package io.framecast.engine.codec;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// An Optional: a byte that tells null, empty and present apart, then the value.
final class OptionalShape extends Shape {
    private static final byte NULL = 0;
    private static final byte EMPTY = 1;
    private static final byte PRESENT = 2;

    private final Shape element;

    OptionalShape(final Shape element) {
        this.element = element;
    }

    @Override
    public void write(final Kryo kryo, final Output output, final @Nullable Object value) {
        if (value == null) {
            output.writeByte(NULL);
            return;
        }
        final Optional<?> optional = (Optional<?>) value;
        output.writeByte(optional.isPresent() ? PRESENT : EMPTY);
        if (optional.isPresent()) {
            element.write(kryo, output, optional.get());
        }
    }

    @Override
    public @Nullable Object read(final Kryo kryo, final Input input, final Class<?> type) {
        final byte tag = input.readByte();
        return switch (tag) {
            case NULL -> null;
            case EMPTY -> Optional.empty();
            case PRESENT -> {
                final Object value = element.read(kryo, input, Object.class);
                if (value == null) {
                    throw new KryoException("an Optional holds null");
                }
                yield Optional.of(value);
            }
            default -> throw new KryoException("expected an Optional's 0, 1 or 2, got " + tag);
        };
    }
}
