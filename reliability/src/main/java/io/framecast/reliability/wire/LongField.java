package io.framecast.reliability.wire;

import java.lang.foreign.MemorySegment;

/// A number of 8 bytes at a fixed place of a datagram.
///
/// @param at its offset in the datagram
public record LongField(int at) {
    public long get(final MemorySegment datagram, final long offset) {
        return datagram.get(Wire.LONG, offset + at);
    }

    void set(final MemorySegment datagram, final long offset, final long value) {
        datagram.set(Wire.LONG, offset + at, value);
    }
}
