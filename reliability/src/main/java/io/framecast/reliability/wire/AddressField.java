package io.framecast.reliability.wire;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.framecast.reliability.memory.Words;
import java.lang.foreign.MemorySegment;

/// A transport address at a fixed place of a datagram: a length byte and up to 32 bytes, in 33 bytes.
///
/// @param at its offset in the datagram
public record AddressField(int at) {
    public static final int LENGTH = 1 + Wire.ADDRESS_BYTES_MAX;

    public boolean isValid(final MemorySegment datagram, final long offset) {
        final int length = Words.getByte(datagram, offset + at) & 0xff;
        return length > 0 && length <= Wire.ADDRESS_BYTES_MAX;
    }

    /// Allocates.
    public byte[] read(final MemorySegment datagram, final long offset) {
        return Wire.bytes(datagram, offset + at + 1, Words.getByte(datagram, offset + at) & 0xff);
    }

    public void write(final MemorySegment datagram, final long offset, final byte[] address) {
        Wire.zero(datagram, offset + at, LENGTH);
        Words.setByte(datagram, offset + at, (byte) address.length);
        MemorySegment.copy(address, 0, datagram, JAVA_BYTE, offset + at + 1, address.length);
    }
}
