package io.framecast.fuzz;

import java.util.Arrays;

/// Draws a test's choices from the bytes of an input, front to back. Behind the end every byte is 0. Mutable; one
/// thread.
public final class FuzzInput {
    private final byte[] bytes;
    private int at;

    public FuzzInput(final byte[] bytes) {
        this.bytes = bytes;
    }

    public boolean isEmpty() {
        return at >= bytes.length;
    }

    /// 0 … 255.
    public int unsignedByte() {
        return at < bytes.length ? bytes[at++] & 0xff : 0;
    }

    /// 0 … bound − 1.
    ///
    /// @param bound 1 … 256
    public int below(final int bound) {
        return unsignedByte() % bound;
    }

    public boolean isSet() {
        return (unsignedByte() & 1) != 0;
    }

    /// Little-endian.
    public int number() {
        return unsignedByte() | unsignedByte() << 8 | unsignedByte() << 16 | unsignedByte() << 24;
    }

    /// Little-endian.
    public long wide() {
        return Integer.toUnsignedLong(number()) | (long) number() << Integer.SIZE;
    }

    /// The next bytes; fewer at the end.
    public byte[] take(final int count) {
        final int end = Math.min(bytes.length, at + count);
        final byte[] part = Arrays.copyOfRange(bytes, at, end);
        at = end;
        return part;
    }

    /// All that follows.
    public byte[] rest() {
        return take(bytes.length - at);
    }
}
