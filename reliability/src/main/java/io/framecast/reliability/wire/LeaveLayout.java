package io.framecast.reliability.wire;

import java.lang.foreign.MemorySegment;

/// LEAVE, receiver → source, and EVICT, source → receiver: the end of a membership, with the reason.
///
/// ```
///  40 reason u8  41 reserved (7)
/// ```
public final class LeaveLayout {
    static final IntField REASON = new IntField(40, Byte.BYTES);
    static final int LENGTH = 48;

    /// The reason for the end of a membership, or for a refusal.
    public enum Reason {
        /// The receiver left.
        LEFT,
        /// Silent for longer than alive-timeout.
        SILENT,
        /// Its ring cannot hold (frames held + 1) × frame-max + window.
        RING_TOO_SMALL,
        /// The source holds as many members as it can.
        FULL,
        /// The source does not know this receiver (it was evicted, or belongs to an older session).
        UNKNOWN,
        /// The source closed without end of stream.
        CLOSED,
        /// The receiver held the source back for longer than its delivery policy allows.
        SLOW,
        /// The receiver lacks a datagram that its source does not hold any more, though the source waits for it.
        UNREPAIRABLE
    }

    private static final Reason[] REASONS = Reason.values();

    private LeaveLayout() {}

    public static boolean isValid(final MemorySegment datagram, final long offset) {
        return ControlLayout.DATAGRAM_BYTES.get(datagram, offset) == LENGTH
                && REASON.get(datagram, offset) < REASONS.length;
    }

    public static Reason reason(final MemorySegment datagram, final long offset) {
        return REASONS[REASON.get(datagram, offset)];
    }

    public static int writeLeave(final ControlWriter out, final Reason reason) {
        return write(out, ControlLayout.TYPE_LEAVE, reason);
    }

    public static int writeEvict(final ControlWriter out, final Reason reason) {
        return write(out, ControlLayout.TYPE_EVICT, reason);
    }

    // The position of a constant is its wire code: constants are only ever appended.
    private static int write(final ControlWriter out, final int type, final Reason reason) {
        return out.begin(type, 0)
                .zero(REASON.at(), LENGTH - REASON.at())
                .put(REASON, reason.ordinal())
                .seal(LENGTH);
    }
}
