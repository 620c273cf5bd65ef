package io.framecast.reliability.wire;

import java.lang.foreign.MemorySegment;

/// ADMIT, source → receiver: the join is accepted, a full-size probe with this token follows on the data lane. Where
/// a membership moved (RESUME) no probe follows. Also READY, receiver → source: ADMIT and the probe arrived, and here
/// is the first credit; both have the same shape.
///
/// The group hears the token in the probe. The value travels only in ADMIT, by unicast: READY with it proves that the
/// receiver hears at the address that it named.
///
/// ```
///  40 token u32  44 grantSlots u32 (READY: free data slots; ADMIT: 0)  48 value u64
/// ```
public final class AdmitLayout {
    public static final IntField TOKEN = new IntField(40);
    public static final IntField GRANT_SLOTS = new IntField(44);
    public static final LongField VALUE = new LongField(48);
    static final int LENGTH = 56;
    // Of builds that did not know the value.
    private static final int EARLIER_LENGTH = 48;

    private AdmitLayout() {}

    public static boolean isValid(final MemorySegment datagram, final long offset) {
        return ControlLayout.DATAGRAM_BYTES.get(datagram, offset) == LENGTH
                && ControlLayout.RECEIVER.get(datagram, offset) != 0
                && GRANT_SLOTS.get(datagram, offset) >= 0;
    }

    /// Whether an ADMIT or READY has no value, because its sender is of an earlier build.
    public static boolean isOfEarlierBuild(final MemorySegment datagram, final long offset) {
        return ControlLayout.DATAGRAM_BYTES.get(datagram, offset) == EARLIER_LENGTH;
    }

    public static int writeAdmit(final ControlWriter out, final int token, final long value) {
        return write(out, ControlLayout.TYPE_ADMIT, token, 0, value);
    }

    public static int writeReady(final ControlWriter out, final int token, final long value, final int grantSlots) {
        return write(out, ControlLayout.TYPE_READY, token, grantSlots, value);
    }

    private static int write(
            final ControlWriter out, final int type, final int token, final int grantSlots, final long value) {
        return out.begin(type, 0)
                .put(TOKEN, token)
                .put(GRANT_SLOTS, grantSlots)
                .put(VALUE, value)
                .seal(LENGTH);
    }
}
