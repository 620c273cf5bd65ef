package io.framecast.reliability.wire;

import java.lang.foreign.MemorySegment;

/// A bundle: one datagram that carries several whole small frames. Its header has [DataLayout#FLAG_BUNDLE], the
/// number of frames in place of the metadata's length, the first frame's number and timestamp, and the whole
/// payload's length as that of the frame. The payload:
///
/// ```
///  0                64 n                                         bytes−8−8·count          bytes−8   bytes−4
/// +----------------+----------------+- - - - - - - - - - - - - -+------------------------+---------+------+
/// | frame 0        | frame 1        | … each at the next multiple | count × entry u64       | crc32c  | 0    |
/// +----------------+----------------+- - - - - - - - - - - - - -+------------------------+---------+------+
/// ```
///
/// An entry is `length (bits 0 … 15) | flags (16 … 23) | 0 (24 … 31) | timestamp − header's timestamp (32 … 63,
/// signed)`. The lengths before a frame give its beginning, so that no table can make frames overlap or change
/// their order. The table lies behind the payloads, because its length is known only when the bundle is closed: by
/// then the payloads lie where the publisher wrote them. Between the last payload and the table may be a gap, where
/// the publisher was writing when the bundle was closed.
///
/// The checksum covers the session's nonce, the sequence and the entries. So a damaged table, or that of another
/// datagram, is noticed before any memory is given out by it.
public final class BundleLayout {
    /// A single frame travels without a table.
    public static final int FRAMES_MIN = 2;
    /// Frames of one datagram, at most: more would save next to nothing and make tables long.
    public static final int FRAMES_MAX = 64;
    /// Every frame of a bundle begins at a multiple of this.
    public static final int ALIGN_BYTES = 64;

    public static final int ENTRY_BYTES = Long.BYTES;
    static final int TAIL_BYTES = 8;

    private static final int FLAGS_SHIFT = 16;
    private static final int DELTA_SHIFT = 32;
    private static final long RESERVED = 0xff00_0000L;

    private BundleLayout() {}

    /// Bytes of the table of `frames` frames, with its checksum.
    public static int tableBytes(final int frames) {
        return frames * ENTRY_BYTES + TAIL_BYTES;
    }

    /// The longest frame that shares a slot: two of them always fit.
    public static int frameBytesMax(final int slotBytes) {
        return Math.max(0, slotBytes / 2 / ALIGN_BYTES * ALIGN_BYTES - tableBytes(2));
    }

    /// Frames that one slot holds at most.
    public static int framesMax(final int slotBytes) {
        return Math.min(FRAMES_MAX, slotBytes / (ALIGN_BYTES + ENTRY_BYTES) + 1);
    }

    /// The next multiple of [#ALIGN_BYTES].
    public static int align(final int bytes) {
        return (bytes + ALIGN_BYTES - 1) & -ALIGN_BYTES;
    }

    /// Whether an entry can hold a timestamp as a difference from the header's.
    public static boolean isNear(final long timestampNs, final long headerTimestampNs) {
        final long delta = timestampNs - headerTimestampNs;
        return delta == (int) delta;
    }

    public static long entry(final int bytes, final int flags, final long deltaNs) {
        return deltaNs << DELTA_SHIFT | (long) flags << FLAGS_SHIFT | bytes;
    }

    public static int bytes(final long entry) {
        return (int) entry & 0xffff;
    }

    public static int flags(final long entry) {
        return (int) (entry >>> FLAGS_SHIFT) & 0xff;
    }

    public static int deltaNs(final long entry) {
        return (int) (entry >>> DELTA_SHIFT);
    }

    /// Whether an entry by itself is possible.
    public static boolean isPossible(final long entry) {
        return bytes(entry) > 0 && (entry & RESERVED) == 0 && (flags(entry) & DataLayout.FLAG_BUNDLE) == 0;
    }

    /// The entry of a frame in a table whose first entry lies at `offset`.
    public static long entry(final MemorySegment memory, final long offset, final int index) {
        return Wire.getLong(memory, offset + (long) index * ENTRY_BYTES);
    }

    /// Writes one entry.
    public static void write(final MemorySegment memory, final long offset, final int index, final long entry) {
        Wire.setLong(memory, offset + (long) index * ENTRY_BYTES, entry);
    }

    /// Writes the tail behind `frames` entries that begin at `offset`.
    public static void seal(final MemorySegment memory, final long offset, final int frames, final int tableChecksum) {
        final long tail = offset + (long) frames * ENTRY_BYTES;
        Wire.setInt(memory, tail, tableChecksum);
        Wire.setInt(memory, tail + Integer.BYTES, 0);
    }

    /// Whether the tail behind `frames` entries has `tableChecksum`.
    public static boolean isSealed(
            final MemorySegment memory, final long offset, final int frames, final int tableChecksum) {
        final long tail = offset + (long) frames * ENTRY_BYTES;
        return Wire.getInt(memory, tail) == tableChecksum && Wire.getInt(memory, tail + Integer.BYTES) == 0;
    }
}
