package io.framecast.reliability.wire;

import java.lang.foreign.MemorySegment;

/// A number of 8 bytes at a fixed place of a datagram.
///
/// @param at its offset in the datagram
public record LongField(int at) {
    public long get(final MemorySegment datagram, final long offset) {
        return Wire.getLong(datagram, offset + at);
    }

    public void set(final MemorySegment datagram, final long offset, final long value) {
        Wire.setLong(datagram, offset + at, value);
    }
}
