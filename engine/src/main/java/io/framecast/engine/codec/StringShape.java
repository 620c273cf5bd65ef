package io.framecast.engine.codec;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// A String as `[byte count + 1][UTF-8]`. Strict both ways: what does not come back the same is refused, not
/// replaced.
final class StringShape extends Shape {
    @Override
    public void write(final Kryo kryo, final Output output, final @Nullable Object value) {
        writeString(output, (String) value);
    }

    @Override
    public @Nullable Object read(final Kryo kryo, final Input input, final Class<?> type) {
        return readString(input);
    }

    void writeString(final Output output, final @Nullable String value) {
        if (value == null) {
            writeCount(output, NULL_COUNT);
            return;
        }
        try {
            final ByteBuffer utf8 = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(value));
            writeCount(output, utf8.remaining());
            output.writeBytes(utf8.array(), utf8.arrayOffset(), utf8.remaining());
        } catch (final CharacterCodingException e) {
            throw new KryoException("a String holds half of a surrogate pair", e);
        }
    }

    @SuppressWarnings("NullAway") // As an element of String[], which the checker takes to hold no nulls.
    String readString(final Input input) {
        final int bytes = readCount(input, 1);
        if (bytes == NULL_COUNT) {
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
