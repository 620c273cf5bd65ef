package io.framecast.reliability.wire;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;

/// A transport address: a length byte and up to 32 bytes, in 33 bytes.
final class AddressField {
    static final int LENGTH = 1 + Wire.ADDRESS_BYTES_MAX;

    private AddressField() {}

    static boolean isValid(final MemorySegment datagram, final long offset) {
        final int length = datagram.get(JAVA_BYTE, offset) & 0xff;
        return length > 0 && length <= Wire.ADDRESS_BYTES_MAX;
    }

    static byte[] read(final MemorySegment datagram, final long offset) {
        final byte[] address = new byte[datagram.get(JAVA_BYTE, offset) & 0xff];
        MemorySegment.copy(datagram, JAVA_BYTE, offset + 1, address, 0, address.length);
        return address;
    }

    static void write(final MemorySegment datagram, final long offset, final byte[] address) {
        Wire.zero(datagram, offset, LENGTH);
        datagram.set(JAVA_BYTE, offset, (byte) address.length);
        MemorySegment.copy(address, 0, datagram, JAVA_BYTE, offset + 1, address.length);
    }
}
