package io.framecast.reliability.sim;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.zip.CRC32C;

/// Gives a changed control datagram a valid checksum, for injected bugs.
final class Forgery {
    // See docs/protocol.md.
    private static final int CHECKSUM = 4;

    private Forgery() {}

    static void seal(final MemorySegment datagram) {
        datagram.set(ValueLayout.JAVA_INT_UNALIGNED, CHECKSUM, 0);
        final CRC32C crc = new CRC32C();
        crc.update(datagram.toArray(ValueLayout.JAVA_BYTE));
        datagram.set(ValueLayout.JAVA_INT_UNALIGNED, CHECKSUM, (int) crc.getValue());
    }
}
