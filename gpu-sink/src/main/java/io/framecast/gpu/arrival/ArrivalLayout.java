package io.framecast.gpu.arrival;

/// The arrival area in memory, byte by byte; the same names with `FC_` before them are in `framecast.cuh`,
/// and a test compares the two.
///
/// ```
/// header [HEADER_BYTES] · entries [n][ENTRY_BYTES] · records [n][RECORD_BYTES] · return words [n][RETURN_BYTES]
/// ```
///
/// Entry of position p, in slot p mod n: word 0 holds the sequence p + 1 (low 32 bits), the slot and the
/// kind; word 1 source, channel and tag. A sequence of an earlier lap differs by n or more, so stale entries
/// are recognised. The return word of a slot holds the sequence of the entry that the device returned there
/// last.
public final class ArrivalLayout {
    static final int VERSION = 2;
    static final int HEADER_BYTES = 256;
    static final int VERSION_OFFSET = 0;
    static final int ENTRIES_OFFSET = 4;
    static final int CONSUMERS_OFFSET = 8;
    static final int FIRST_OFFSET = 12;
    static final int RESUME_OFFSET = 16;
    static final int STATE_OFFSET = 24;
    // A line of its own: the device looks at it in every round.
    static final int STOP_OFFSET = 128;

    static final int ENTRY_BYTES = 16;
    static final int SLOT_BITS = 24;

    static final int RECORD_BYTES = 64;
    static final int RECORD_ADDRESS = 0;
    static final int RECORD_LENGTH = 8;
    static final int RECORD_FRAME_ID = 16;
    static final int RECORD_SESSION = 24;
    static final int RECORD_TIMESTAMP = 32;
    static final int RECORD_COUNT = 40;
    static final int RECORD_FLAGS = 48;
    static final int RECORD_REASON = 52;
    static final int RETURN_BYTES = 4;

    static final int LOCK_BYTES = 64;
    static final int LOCK_STOP = 32;
    static final int RELAY_BYTES = 80;
    static final int CURSOR_BYTES = 16;

    /// A frame in device memory.
    public static final int KIND_FRAME = 1;
    /// Frames that will never come.
    public static final int KIND_LOSS = 2;
    /// A source was joined, for the first time or again.
    public static final int KIND_JOINED = 3;
    /// A source said that this was all.
    public static final int KIND_ENDED = 4;
    /// A source fell silent.
    public static final int KIND_LOST = 5;
    /// Nothing comes from this channel's subscriber any more.
    public static final int KIND_OVER = 6;

    /// The frame is a keyframe.
    public static final int FLAG_KEYFRAME = 1;

    /// Nothing comes any more: end when the ring holds nothing to take.
    public static final int STOP_DRAIN = 1;
    /// End at once.
    public static final int STOP_NOW = 2;

    /// Matches every channel.
    public static final int ANY_CHANNEL = 65535;
    /// Matches every source.
    public static final int ANY_SOURCE = 65535;
    /// Matches every tag.
    public static final int ANY_TAG = -1;

    private ArrivalLayout() {}

    static long areaBytes(final int entries) {
        return HEADER_BYTES + (long) entries * (ENTRY_BYTES + RECORD_BYTES + RETURN_BYTES);
    }

    /// Bytes of the device's own memory: counts of blocks done, a relay of entries with their records, then a
    /// cursor per block.
    static long stateBytes(final int entries, final int consumers) {
        final long counts = ((long) entries * Integer.BYTES + 15) / 16 * 16;
        final long bits = ((long) entries + 127) / 128 * 16;
        return counts + LOCK_BYTES + (long) entries * RELAY_BYTES + consumers * (CURSOR_BYTES + bits);
    }

    static long entryOffset(final int slot) {
        return HEADER_BYTES + (long) slot * ENTRY_BYTES;
    }

    static long recordOffset(final int entries, final int slot) {
        return HEADER_BYTES + (long) entries * ENTRY_BYTES + (long) slot * RECORD_BYTES;
    }

    static long returnOffset(final int entries, final int slot) {
        return HEADER_BYTES + (long) entries * (ENTRY_BYTES + RECORD_BYTES) + (long) slot * RETURN_BYTES;
    }

    static long word0(final int sequence, final int slot, final int kind) {
        return Integer.toUnsignedLong(sequence) | (long) slot << 32 | (long) kind << 56;
    }

    static long word1(final int source, final int channel, final int tag) {
        return (source & 0xffffL) | (channel & 0xffffL) << 16 | (long) tag << 32;
    }

    static int sequence(final long word0) {
        return (int) word0;
    }

    static int slot(final long word0) {
        return (int) (word0 >>> 32) & ((1 << SLOT_BITS) - 1);
    }

    static int kind(final long word0) {
        return (int) (word0 >>> 56);
    }

    static int source(final long word1) {
        return (int) word1 & 0xffff;
    }

    static int channel(final long word1) {
        return (int) (word1 >>> 16) & 0xffff;
    }

    static int tag(final long word1) {
        return (int) (word1 >>> 32);
    }
}
