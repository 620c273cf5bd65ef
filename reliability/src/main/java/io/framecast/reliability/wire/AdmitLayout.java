package io.framecast.reliability.wire;

import java.lang.foreign.MemorySegment;

/// ADMIT, source → receiver: the join is accepted, a full-size probe with this token follows on the data lane.
/// Also READY, receiver → source: the probe arrived, and here is the first credit; both have the same shape.
///
/// ```
///  32 token u32  36 grantSlots u32 (READY: free data slots; ADMIT: 0)
/// ```
public final class AdmitLayout {
    static final int TOKEN = 32;
    static final int GRANT_SLOTS = 36;
    static final int LENGTH = 40;

    private AdmitLayout() {}

    public static boolean isValid(final MemorySegment datagram, final long offset) {
        return ControlLayout.bytes(datagram, offset) == LENGTH
                && ControlLayout.receiver(datagram, offset) != 0
                && grantSlots(datagram, offset) >= 0;
    }

    public static int token(final MemorySegment datagram, final long offset) {
        return datagram.get(Wire.INT, offset + TOKEN);
    }

    public static int grantSlots(final MemorySegment datagram, final long offset) {
        return datagram.get(Wire.INT, offset + GRANT_SLOTS);
    }

    public static int writeAdmit(
            final MemorySegment datagram, final ControlIds ids, final int token, final HeaderChecksum checksum) {
        ControlLayout.begin(datagram, ControlLayout.TYPE_ADMIT, 0, ids);
        return seal(datagram, token, 0, checksum);
    }

    public static int writeReady(
            final MemorySegment datagram,
            final ControlIds ids,
            final int token,
            final int grantSlots,
            final HeaderChecksum checksum) {
        ControlLayout.begin(datagram, ControlLayout.TYPE_READY, 0, ids);
        return seal(datagram, token, grantSlots, checksum);
    }

    private static int seal(
            final MemorySegment datagram, final int token, final int grantSlots, final HeaderChecksum checksum) {
        datagram.set(Wire.INT, TOKEN, token);
        datagram.set(Wire.INT, GRANT_SLOTS, grantSlots);
        return ControlLayout.seal(datagram, LENGTH, checksum);
    }
}
