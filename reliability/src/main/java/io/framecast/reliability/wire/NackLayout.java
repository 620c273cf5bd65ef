package io.framecast.reliability.wire;

import java.lang.foreign.MemorySegment;

/// NACK, receiver → source (later: co-root): selective, as ranges of missing sequences, ascending and disjoint.
///
/// ```
///  32 ranges u32 (1 … 96)  36 reserved u32  40 { first u64, count u32 } × ranges
/// ```
public final class NackLayout {
    static final int RANGES = 32;
    static final int FIRST_RANGE = 40;
    static final int RANGE_BYTES = 12;

    public static final int RANGES_MAX = (Wire.CONTROL_BYTES_MAX - FIRST_RANGE) / RANGE_BYTES;

    private NackLayout() {}

    public static boolean isValid(final MemorySegment datagram, final long offset) {
        final int bytes = ControlLayout.bytes(datagram, offset);
        if (bytes < FIRST_RANGE + RANGE_BYTES) {
            return false;
        }
        final int ranges = ranges(datagram, offset);
        if (ranges <= 0 || ranges > RANGES_MAX || bytes != FIRST_RANGE + ranges * RANGE_BYTES) {
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

    public static int ranges(final MemorySegment datagram, final long offset) {
        return datagram.get(Wire.INT, offset + RANGES);
    }

    public static long first(final MemorySegment datagram, final long offset, final int range) {
        return datagram.get(Wire.LONG, offset + FIRST_RANGE + (long) range * RANGE_BYTES);
    }

    public static int count(final MemorySegment datagram, final long offset, final int range) {
        return datagram.get(Wire.INT, offset + FIRST_RANGE + (long) range * RANGE_BYTES + 8);
    }

    /// Sets one range of a datagram under construction.
    public static void range(final MemorySegment datagram, final int range, final long first, final int count) {
        datagram.set(Wire.LONG, FIRST_RANGE + (long) range * RANGE_BYTES, first);
        datagram.set(Wire.INT, FIRST_RANGE + (long) range * RANGE_BYTES + 8, count);
    }

    /// Completes a datagram whose ranges are set.
    public static int write(
            final MemorySegment datagram, final ControlIds ids, final int ranges, final HeaderChecksum checksum) {
        ControlLayout.begin(datagram, ControlLayout.TYPE_NACK, 0, ids);
        datagram.set(Wire.INT, RANGES, ranges);
        datagram.set(Wire.INT, RANGES + 4, 0);
        return ControlLayout.seal(datagram, FIRST_RANGE + ranges * RANGE_BYTES, checksum);
    }
}
