package io.framecast.reliability.wire;

import java.lang.foreign.MemorySegment;

/// ADMIT, source → receiver: the join is accepted, a full-size probe with this token follows on the data lane.
/// Also READY, receiver → source: the probe arrived, and here is the first credit; both have the same shape.
///
/// ```
///  40 token u32  44 grantSlots u32 (READY: free data slots; ADMIT: 0)
/// ```
public final class AdmitLayout {
    public static final IntField TOKEN = new IntField(40);
    public static final IntField GRANT_SLOTS = new IntField(44);
    static final int LENGTH = 48;

    private AdmitLayout() {}

    public static boolean isValid(final MemorySegment datagram, final long offset) {
        return ControlLayout.DATAGRAM_BYTES.get(datagram, offset) == LENGTH
                && ControlLayout.RECEIVER.get(datagram, offset) != 0
                && GRANT_SLOTS.get(datagram, offset) >= 0;
    }

    public static int writeAdmit(final ControlWriter out, final int token) {
        return write(out, ControlLayout.TYPE_ADMIT, token, 0);
    }

    public static int writeReady(final ControlWriter out, final int token, final int grantSlots) {
        return write(out, ControlLayout.TYPE_READY, token, grantSlots);
    }

    private static int write(final ControlWriter out, final int type, final int token, final int grantSlots) {
        return out.begin(type, 0).put(TOKEN, token).put(GRANT_SLOTS, grantSlots).seal(LENGTH);
    }
}
