package io.framecast.reliability.wire;

import java.lang.foreign.MemorySegment;

/// NACK, receiver → source or co-root: selective, as ranges of missing sequences, ascending and disjoint. An
/// acknowledgement that is due soon rides on it: then, with [#FLAG_ACKNOWLEDGES], the body of an ACK comes
/// first.
///
/// ```
///  40 [ body of an ACK, 40 bytes ]
///  40 or 80 ranges u32 (1 … 94, 1 … 90)  + 4 reserved u32  + 8 { first u64, count u32 } × ranges
/// ```
public final class NackLayout {
    static final int RANGES = ControlLayout.LENGTH;
    static final int FIRST_RANGE = RANGES + 8;
    static final int RANGE_BYTES = 12;

    /// Fields of [AckLayout] at their places there, without the flags: the receiver lacks something, so it is not
    /// complete, and the acknowledgement covers that receiver alone.
    public static final int FLAG_ACKNOWLEDGES = 4;

    private static final int ACK_BYTES = AckLayout.LENGTH - RANGES;

    private NackLayout() {}

    public static boolean isValid(final MemorySegment datagram, final long offset) {
        final boolean acknowledges = acknowledges(datagram, offset);
        final int bytes = ControlLayout.DATAGRAM_BYTES.get(datagram, offset) - (acknowledges ? ACK_BYTES : 0);
        if (bytes < FIRST_RANGE + RANGE_BYTES || (acknowledges && !isSoundAck(datagram, offset))) {
            return false;
        }
        final int ranges = ranges(datagram, offset);
        if (ranges <= 0 || ranges > rangesMax(acknowledges) || bytes != FIRST_RANGE + ranges * RANGE_BYTES) {
            return false;
        }
        long floor = 0;
        for (int i = 0; i < ranges; i++) {
            final long first = first(datagram, offset, i);
            final int count = count(datagram, offset, i);
            if (first < floor || count <= 0 || first > Long.MAX_VALUE - count) {
                return false;
            }
            floor = first + count;
        }
        return true;
    }

    private static boolean isSoundAck(final MemorySegment datagram, final long offset) {
        return ControlLayout.FLAGS.get(datagram, offset) == FLAG_ACKNOWLEDGES && AckLayout.isSound(datagram, offset);
    }

    /// Most ranges of one datagram.
    public static int rangesMax(final boolean acknowledges) {
        return (ControlLayout.BODY_END_MAX - FIRST_RANGE - (acknowledges ? ACK_BYTES : 0)) / RANGE_BYTES;
    }

    public static boolean acknowledges(final MemorySegment datagram, final long offset) {
        return (ControlLayout.FLAGS.get(datagram, offset) & FLAG_ACKNOWLEDGES) != 0;
    }

    // The offset from which the ranges' fields count.
    private static long base(final MemorySegment datagram, final long offset) {
        return acknowledges(datagram, offset) ? offset + ACK_BYTES : offset;
    }

    public static int ranges(final MemorySegment datagram, final long offset) {
        return Wire.getInt(datagram, base(datagram, offset) + RANGES);
    }

    public static long first(final MemorySegment datagram, final long offset, final int range) {
        return Wire.getLong(datagram, base(datagram, offset) + FIRST_RANGE + (long) range * RANGE_BYTES);
    }

    public static int count(final MemorySegment datagram, final long offset, final int range) {
        return Wire.getInt(datagram, base(datagram, offset) + FIRST_RANGE + (long) range * RANGE_BYTES + 8);
    }

    /// Sets one range of a datagram under construction.
    public static void range(
            final MemorySegment datagram,
            final boolean acknowledges,
            final int range,
            final long first,
            final int count) {
        final long at = FIRST_RANGE + (acknowledges ? ACK_BYTES : 0) + (long) range * RANGE_BYTES;
        Wire.setLong(datagram, at, first);
        Wire.setInt(datagram, at + 8, count);
    }

    /// Completes a datagram whose ranges are set.
    public static int write(final ControlWriter out, final int ranges) {
        return end(out.begin(ControlLayout.TYPE_NACK, 0), 0, ranges);
    }

    /// Completes a datagram whose ranges are set behind an acknowledgement.
    public static int write(final ControlWriter out, final int ranges, final AckValues values) {
        AckLayout.writeBody(out.begin(ControlLayout.TYPE_NACK, FLAG_ACKNOWLEDGES), values);
        return end(out, ACK_BYTES, ranges);
    }

    private static int end(final ControlWriter out, final int shift, final int ranges) {
        // Ranges, and 4 reserved bytes behind them.
        return out.putLong(shift + RANGES, ranges).seal(shift + FIRST_RANGE + ranges * RANGE_BYTES);
    }
}
