package io.framecast.reliability.wire;

import java.lang.foreign.MemorySegment;

/// ASSIGN, source → member: report to this co-root from now on, or to the source again. Repeated until an ACK
/// carries its epoch. The ASSIGN of the highest epoch counts.
///
/// ```
///  32 coRoot u64 (receiver id; 0: the source itself)  40 the co-root's control address (1 + 32; empty for the source)
/// ```
public final class AssignLayout {
    static final int CO_ROOT = 32;
    static final int ADDRESS = 40;
    static final int LENGTH = ADDRESS + AddressField.LENGTH;

    private static final byte[] NOWHERE = {};

    private AssignLayout() {}

    public static boolean isValid(final MemorySegment datagram, final long offset) {
        return ControlLayout.bytes(datagram, offset) == LENGTH
                && ControlLayout.receiver(datagram, offset) != 0
                && ControlLayout.epoch(datagram, offset) > 0
                && (coRoot(datagram, offset) == 0 || AddressField.isValid(datagram, offset + ADDRESS));
    }

    public static long coRoot(final MemorySegment datagram, final long offset) {
        return datagram.get(Wire.LONG, offset + CO_ROOT);
    }

    public static byte[] address(final MemorySegment datagram, final long offset) {
        return AddressField.read(datagram, offset + ADDRESS);
    }

    /// Sends the member back to the source.
    public static int writeDirect(final MemorySegment datagram, final ControlIds ids, final HeaderChecksum checksum) {
        return write(datagram, ids, 0, NOWHERE, checksum);
    }

    public static int write(
            final MemorySegment datagram,
            final ControlIds ids,
            final long coRoot,
            final byte[] address,
            final HeaderChecksum checksum) {
        ControlLayout.begin(datagram, ControlLayout.TYPE_ASSIGN, 0, ids);
        datagram.set(Wire.LONG, CO_ROOT, coRoot);
        AddressField.write(datagram, ADDRESS, address);
        return ControlLayout.seal(datagram, LENGTH, checksum);
    }
}
