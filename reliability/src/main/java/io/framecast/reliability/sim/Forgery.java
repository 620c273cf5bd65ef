package io.framecast.reliability.sim;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.zip.CRC32C;

/// Changes control datagrams and gives them a valid checksum, for injected bugs.
final class Forgery {
    /// Offsets in ACK (docs/protocol.md).
    static final int ACKNOWLEDGED = 40;

    static final int GRANT = 48;
    static final int COVERED = 76;
    /// Offsets in HEARTBEAT.
    static final int ALIVE_TIMEOUT = 84;

    static final int CLOCK = 96;
    private static final int CHECKSUM = 4;

    private Forgery() {}

    /// A copy of a control datagram with another value in it.
    static MemorySegment changed(final MemorySegment datagram, final int offset, final long value) {
        final MemorySegment copy = MemorySegment.ofArray(datagram.toArray(ValueLayout.JAVA_BYTE));
        copy.set(ValueLayout.JAVA_LONG_UNALIGNED, offset, value);
        seal(copy);
        return copy;
    }

    static void seal(final MemorySegment datagram) {
        datagram.set(ValueLayout.JAVA_INT_UNALIGNED, CHECKSUM, 0);
        final CRC32C crc = new CRC32C();
        crc.update(datagram.toArray(ValueLayout.JAVA_BYTE));
        datagram.set(ValueLayout.JAVA_INT_UNALIGNED, CHECKSUM, (int) crc.getValue());
    }
}
