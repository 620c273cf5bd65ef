package io.framecast.reliability.wire;

import io.framecast.reliability.memory.Words;
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
            case Byte.BYTES -> Words.getByte(datagram, offset + at) & 0xff;
            case Short.BYTES -> Wire.getShort(datagram, offset + at);
            default -> Wire.getInt(datagram, offset + at);
        };
    }

    /// As a number of 4 bytes without a sign.
    public long unsigned(final MemorySegment datagram, final long offset) {
        return Integer.toUnsignedLong(get(datagram, offset));
    }

    public void set(final MemorySegment datagram, final long offset, final int value) {
        switch (bytes) {
            case Byte.BYTES -> Words.setByte(datagram, offset + at, (byte) value);
            case Short.BYTES -> Wire.setShort(datagram, offset + at, (short) value);
            default -> Wire.setInt(datagram, offset + at, value);
        }
    }
}
