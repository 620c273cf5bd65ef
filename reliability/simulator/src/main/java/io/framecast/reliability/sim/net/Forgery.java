package io.framecast.reliability.sim.net;

import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.HeaderChecksum;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.zip.CRC32C;

/// Changes datagrams and gives them a valid checksum: for injected bugs, and in another session's name.
public final class Forgery {
    /// Offsets in ACK (docs/protocol.md).
    public static final int ACKNOWLEDGED = 40;

    public static final int GRANT = 48;
    public static final int COVERED = 76;
    /// Offsets in HEARTBEAT.
    public static final int ALIVE_TIMEOUT = 84;

    public static final int CLOCK = 96;
    private static final int CHECKSUM = 4;

    private Forgery() {}

    /// A copy of a control datagram with another value in it.
    public static MemorySegment changed(final MemorySegment datagram, final int offset, final long value) {
        final MemorySegment copy = MemorySegment.ofArray(datagram.toArray(ValueLayout.JAVA_BYTE));
        copy.set(ValueLayout.JAVA_LONG_UNALIGNED, offset, value);
        seal(copy);
        return copy;
    }

    /// A copy of a datagram of the data lane with another session's header and other payload.
    ///
    /// @param ahead added to its sequence
    public static MemorySegment ofSession(
            final MemorySegment datagram, final int headerBytes, final long nonce, final int ahead) {
        final byte[] bytes = datagram.toArray(ValueLayout.JAVA_BYTE);
        for (int i = headerBytes; i < bytes.length; i++) {
            bytes[i] ^= (byte) 0x5a;
        }
        final MemorySegment ghost = MemorySegment.ofArray(bytes);
        ghost.set(ValueLayout.JAVA_INT_UNALIGNED, 8, DataLayout.sessionTag(nonce));
        ghost.set(ValueLayout.JAVA_LONG_UNALIGNED, 16, DataLayout.SEQUENCE.get(ghost, 0) + ahead);
        new HeaderChecksum().seal(ghost, 0, nonce);
        return ghost;
    }

    public static void seal(final MemorySegment datagram) {
        datagram.set(ValueLayout.JAVA_INT_UNALIGNED, CHECKSUM, 0);
        final CRC32C crc = new CRC32C();
        crc.update(datagram.toArray(ValueLayout.JAVA_BYTE));
        datagram.set(ValueLayout.JAVA_INT_UNALIGNED, CHECKSUM, (int) crc.getValue());
    }
}
