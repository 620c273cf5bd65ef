package io.framecast.reliability.wire;

import java.lang.foreign.MemorySegment;

/// ASSIGN, source → member: report to this co-root from now on, or to the source again. Repeated until an ACK
/// carries its epoch. The ASSIGN of the highest epoch counts.
///
/// ```
///  40 coRoot u64 (receiver id; 0: the source itself)  48 the co-root's control address (1 + 32; empty for the source)
/// ```
public final class AssignLayout {
    public static final LongField CO_ROOT = new LongField(40);
    public static final AddressField ADDRESS = new AddressField(48);
    static final int LENGTH = 48 + AddressField.LENGTH;

    private static final byte[] NOWHERE = {};

    private AssignLayout() {}

    public static boolean isValid(final MemorySegment datagram, final long offset) {
        return ControlLayout.DATAGRAM_BYTES.get(datagram, offset) == LENGTH
                && ControlLayout.RECEIVER.get(datagram, offset) != 0
                && ControlLayout.EPOCH.get(datagram, offset) > 0
                && (CO_ROOT.get(datagram, offset) == 0 || ADDRESS.isValid(datagram, offset));
    }

    /// Sends the member back to the source.
    public static int writeDirect(final ControlWriter out) {
        return write(out, 0, NOWHERE);
    }

    public static int write(final ControlWriter out, final long coRoot, final byte[] address) {
        return out.begin(ControlLayout.TYPE_ASSIGN, 0)
                .put(CO_ROOT, coRoot)
                .put(ADDRESS, address)
                .seal(LENGTH);
    }
}
