package io.framecast.reliability.wire;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;

/// A number of 1, 2 or 4 bytes at a fixed place of a datagram. The short ones have no sign.
///
/// @param at its offset in the datagram
/// @param bytes its length
public record IntField(int at, int bytes) {
    IntField(final int at) {
        this(at, Integer.BYTES);
    }

    public int get(final MemorySegment datagram, final long offset) {
        return switch (bytes) {
            case Byte.BYTES -> datagram.get(JAVA_BYTE, offset + at) & 0xff;
            case Short.BYTES -> datagram.get(Wire.SHORT, offset + at) & 0xffff;
            default -> datagram.get(Wire.INT, offset + at);
        };
    }

    /// As a number of 4 bytes without a sign.
    public long unsigned(final MemorySegment datagram, final long offset) {
        return Integer.toUnsignedLong(get(datagram, offset));
    }

    void set(final MemorySegment datagram, final long offset, final int value) {
        switch (bytes) {
            case Byte.BYTES -> datagram.set(JAVA_BYTE, offset + at, (byte) value);
            case Short.BYTES -> datagram.set(Wire.SHORT, offset + at, (short) value);
            default -> datagram.set(Wire.INT, offset + at, value);
        }
    }
}
