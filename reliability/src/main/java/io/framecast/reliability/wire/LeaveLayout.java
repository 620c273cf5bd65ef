package io.framecast.reliability.wire;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;

/// LEAVE, receiver → source, and EVICT, source → receiver: the end of a membership, with the reason.
///
/// ```
///  32 reason u8  33 reserved (7)
/// ```
public final class LeaveLayout {
    static final int REASON = 32;
    static final int LENGTH = 40;

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
        SLOW
    }

    private static final Reason[] REASONS = Reason.values();

    private LeaveLayout() {}

    public static boolean isValid(final MemorySegment datagram, final long offset) {
        return ControlLayout.bytes(datagram, offset) == LENGTH
                && (datagram.get(JAVA_BYTE, offset + REASON) & 0xff) < REASONS.length;
    }

    public static Reason reason(final MemorySegment datagram, final long offset) {
        return REASONS[datagram.get(JAVA_BYTE, offset + REASON) & 0xff];
    }

    public static int writeLeave(
            final MemorySegment datagram, final ControlIds ids, final Reason reason, final HeaderChecksum checksum) {
        return write(datagram, ControlLayout.TYPE_LEAVE, ids, reason, checksum);
    }

    public static int writeEvict(
            final MemorySegment datagram, final ControlIds ids, final Reason reason, final HeaderChecksum checksum) {
        return write(datagram, ControlLayout.TYPE_EVICT, ids, reason, checksum);
    }

    private static int write(
            final MemorySegment datagram,
            final int type,
            final ControlIds ids,
            final Reason reason,
            final HeaderChecksum checksum) {
        ControlLayout.begin(datagram, type, 0, ids);
        Wire.zero(datagram, REASON, LENGTH - REASON);
        datagram.set(JAVA_BYTE, REASON, (byte) code(reason));
        return ControlLayout.seal(datagram, LENGTH, checksum);
    }

    // The position in REASONS is the wire code: constants are only ever appended.
    private static int code(final Reason reason) {
        for (int i = 0; i < REASONS.length; i++) {
            if (REASONS[i] == reason) {
                return i;
            }
        }
        throw new IllegalStateException("unreachable");
    }
}
