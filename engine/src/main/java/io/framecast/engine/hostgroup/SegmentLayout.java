package io.framecast.engine.hostgroup;

/// Places of the words that a leader and its followers share (docs/host-segment.md). Numbers are little-endian, words
/// of
/// 8 bytes lie at multiples of 8.
final class SegmentLayout {
    static final long MAGIC = 0x0001_4745_5343_4652L;
    static final int VERSION = 1;

    // Header.
    static final long MAGIC_AT = 0;
    static final long VERSION_AT = 8;
    static final long WORDS_BYTES_AT = 16;
    static final long RING_BYTES_AT = 24;
    static final long SESSION_AT = 32;
    static final long GENERATION_AT = 40;
    static final long ENTRIES_AT = 48;
    static final long MEMBERS_AT = 52;
    static final long FRAME_MAX_AT = 56;
    static final long LEADER_PID_AT = 64;
    // Words of the leader that change, in lines of the cache of their own.
    static final long PUBLISHED_AT = 128;
    static final long STATE_AT = 136;
    static final long CLOCK_OFFSET_AT = 192;
    static final long CLOCK_ERROR_AT = 200;
    static final long HEADER_BYTES = 4096;

    // States of a segment.
    static final int JOINING = 0;
    static final int RUNNING = 1;
    static final int END_OF_STREAM = 2;
    static final int SOURCE_LOST = 3;

    // Entries of the frame table.
    static final int ENTRY_BYTES = 64;
    static final long ENTRY_VERSION = 0;
    static final long ENTRY_KIND = 8;
    static final long ENTRY_FLAGS = 12;
    static final long ENTRY_FRAME_ID = 16;
    static final long ENTRY_OFFSET = 24;
    static final long ENTRY_LENGTH = 32;
    static final long ENTRY_TIMESTAMP = 40;
    static final long ENTRY_METADATA = 48;
    static final long ENTRY_DETAIL = 52;

    // Kinds of entries. The detail of a loss is its reason, that of a frame whether it lies where it was received.
    static final int FRAME = 1;
    static final int LOSS = 2;
    static final int KEYFRAME = 1;

    // Members.
    static final int MEMBER_BYTES = 128;
    static final long MEMBER_STATE = 0;
    static final long MEMBER_PID = 4;
    static final long MEMBER_FIRST = 8;
    // Words of the member itself.
    static final long MEMBER_RELEASED = 64;
    static final long MEMBER_SLEEPS = 72;

    static final int MEMBER_FREE = 0;
    static final int MEMBER_ACTIVE = 1;

    static final int METADATA_BYTES_MAX = 1024;

    static final int ENTRIES = 4096;
    static final int MEMBERS = 64;

    private SegmentLayout() {}

    static long entries() {
        return HEADER_BYTES + (long) MEMBERS * MEMBER_BYTES;
    }

    static long entry(final long number) {
        return entries() + (number & (ENTRIES - 1)) * ENTRY_BYTES;
    }

    static long metadata(final long number) {
        return entries() + (long) ENTRIES * ENTRY_BYTES + (number & (ENTRIES - 1)) * METADATA_BYTES_MAX;
    }

    static long member(final int index) {
        return HEADER_BYTES + (long) index * MEMBER_BYTES;
    }

    static long wordsBytes() {
        return entries() + (long) ENTRIES * (ENTRY_BYTES + METADATA_BYTES_MAX);
    }

    /// The version of an entry that holds the frame or loss of this number; one less while it is written.
    static long version(final long number) {
        return 2 * number + 2;
    }
}
