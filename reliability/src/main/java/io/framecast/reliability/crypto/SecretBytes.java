package io.framecast.reliability.crypto;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.random.RandomGenerator;

/// A key's bytes, outside the heap, wiped when it is closed. It shows itself nowhere: [#toString] has its length alone.
///
/// Any thread reads; the last of them closes.
public final class SecretBytes implements AutoCloseable {
    private final Arena arena = Arena.ofShared();
    private final MemorySegment bytes;

    private SecretBytes(final int length) {
        bytes = arena.allocate(length, Long.BYTES);
    }

    /// Takes the bytes of an array, and wipes it.
    public static SecretBytes take(final byte[] array) {
        final SecretBytes made = new SecretBytes(array.length);
        MemorySegment.copy(array, 0, made.bytes, ValueLayout.JAVA_BYTE, 0, array.length);
        Arrays.fill(array, (byte) 0);
        return made;
    }

    /// Takes random bytes.
    public static SecretBytes random(final RandomGenerator random, final int length) {
        final byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return take(bytes);
    }

    /// Takes bytes out of a segment, and wipes them there.
    public static SecretBytes take(final MemorySegment memory, final long offset, final int length) {
        final SecretBytes made = new SecretBytes(length);
        MemorySegment.copy(memory, offset, made.bytes, 0, length);
        memory.asSlice(offset, length).fill((byte) 0);
        return made;
    }

    /// Another one with the same bytes, which its owner closes.
    public SecretBytes duplicate() {
        final SecretBytes made = new SecretBytes(length());
        MemorySegment.copy(bytes, 0, made.bytes, 0, length());
        return made;
    }

    /// Writes the bytes into a segment, whose owner seals or wipes them.
    public void writeTo(final MemorySegment memory, final long offset) {
        MemorySegment.copy(bytes, 0, memory, offset, length());
    }

    public int length() {
        return (int) bytes.byteSize();
    }

    /// The bytes, to be read until this is closed.
    public MemorySegment segment() {
        return bytes.asReadOnly();
    }

    /// A copy in the heap, which its owner wipes.
    byte[] copy() {
        return bytes.toArray(ValueLayout.JAVA_BYTE);
    }

    /// Whether it holds the same bytes as another one; the time that takes does not depend on them.
    public boolean matches(final SecretBytes other) {
        int difference = length() ^ other.length();
        for (int i = 0; i < Math.min(length(), other.length()); i++) {
            difference |= bytes.get(ValueLayout.JAVA_BYTE, i) ^ other.bytes.get(ValueLayout.JAVA_BYTE, i);
        }
        return difference == 0;
    }

    /// Whether all bytes are 0; the time that takes does not depend on them.
    public boolean isZero() {
        int any = 0;
        for (int i = 0; i < length(); i++) {
            any |= bytes.get(ValueLayout.JAVA_BYTE, i);
        }
        return any == 0;
    }

    @Override
    public String toString() {
        return "key of " + length() + " bytes";
    }

    @Override
    public void close() {
        bytes.fill((byte) 0);
        arena.close();
    }
}
