package io.framecast.engine.hostgroup;

/// Places of the words that a leader and its followers share (docs/host-segment.md). Numbers are little-endian, words
/// of 8 bytes lie at multiples of 8.
final class SegmentLayout {
    static final long MAGIC = 0x0001_4745_5343_4652L;
    static final int VERSION = 7;

    // Header.
    static final int MAGIC_AT = 0;
    static final int VERSION_AT = 8;
    static final int WORDS_BYTES_AT = 16;
    static final int RING_BYTES_AT = 24;
    static final int SESSION_AT = 32;
    static final int GENERATION_AT = 40;
    static final int ENTRIES_AT = 48;
    static final int MEMBERS_AT = 52;
    static final int FRAME_MAX_AT = 56;
    static final int LEADER_PID_AT = 64;
    static final int ORIGIN_AT = 68;
    static final int PREDECESSOR_AT = 72;
    static final int SLOT_BYTES_AT = 80;
    static final int WINDOW_SLOTS_AT = 84;
    static final int ALIVE_MS_AT = 88;
    static final int RETAINS_AT = 92;
    static final int SEAL_AT = 96;
    // Words of the leader that change, in lines of the cache of their own.
    static final int PUBLISHED_AT = 128;
    static final int STATE_AT = 136;
    static final int WANTS_AT = 144;
    static final int HEARTBEAT_AT = 152;
    // By successors, each of which adds one.
    static final int CLAIMED_AT = 160;
    static final int WAITS_AT = 164;
    static final int FREED_AT = 168;
    static final int WAITED_FROM_AT = 176;
    static final int START_FRAME_AT = 184;
    static final int CLOCK_OFFSET_AT = 192;
    static final int CLOCK_ERROR_AT = 200;
    static final int OPEN_AT = 208;
    static final int LEADER_CLOCK_AT = 216;
    // Addresses of the source: a length byte, then the bytes.
    static final int CONTROL_ADDRESS_AT = 256;
    static final int DATA_ADDRESS_AT = 320;
    static final int ADDRESS_BYTES_MAX = 32;
    static final int HEADER_BYTES = 4096;

    // The checkpoint for a successor, in two copies that are written in turn.
    static final int CHECKPOINTS_AT = 1024;
    static final int CHECKPOINT_BYTES = 1536;
    static final int CHECKPOINT_VERSION = 0;
    static final int CHECKPOINT_SECRET = 8;
    static final int CHECKPOINT_FIRST_SEQUENCE = 16;
    static final int CHECKPOINT_FRAME_ID = 24;
    static final int CHECKPOINT_ACKNOWLEDGED = 32;
    static final int CHECKPOINT_GRANTED = 40;
    static final int CHECKPOINT_FRAME_BYTES = 48;
    static final int CHECKPOINT_TIMESTAMP = 56;
    static final int CHECKPOINT_ATTRIBUTES = 64;
    static final int CHECKPOINT_COMPLETE = 68;
    static final int CHECKPOINT_OFFSET = 72;
    static final int CHECKPOINT_METADATA_BYTES = 80;
    static final int CHECKPOINT_FORMAT = 84;
    static final int CHECKPOINT_METADATA = 128;

    // The owner of the ring: a receiver's, or the source's own window.
    static final int RECEIVED = 0;
    static final int SOURCE = 1;

    // No follower asked the source to wait for the leader.
    static final long NOT_ASKED = Long.MAX_VALUE;
    // Of a member that begins with the session.
    static final long FROM_START = -1;
    // Released by a member that holds nothing.
    static final long NOTHING_HELD = Long.MAX_VALUE;

    // States of a segment.
    static final int JOINING = 0;
    static final int RUNNING = 1;
    static final int END_OF_STREAM = 2;
    static final int SOURCE_LOST = 3;

    // Entries of the frame table.
    static final int ENTRY_BYTES = 64;
    static final int ENTRY_VERSION = 0;
    static final int ENTRY_KIND = 8;
    static final int ENTRY_FLAGS = 12;
    static final int ENTRY_FRAME_ID = 16;
    static final int ENTRY_OFFSET = 24;
    static final int ENTRY_LENGTH = 32;
    static final int ENTRY_TIMESTAMP = 40;
    static final int ENTRY_METADATA = 48;
    static final int ENTRY_DETAIL = 52;
    static final int ENTRY_END = 56;

    // Kinds of entries. The detail of a loss is its reason, that of a frame whether it lies where it was received.
    static final int FRAME = 1;
    static final int LOSS = 2;
    static final int KEYFRAME = 1;
    // Of an entry's flags: the place of its format from this bit on; 0: none.
    static final int ENTRY_FORMAT_SHIFT = 8;

    // Members.
    static final int MEMBER_BYTES = 128;
    static final int MEMBER_STATE = 0;
    static final int MEMBER_PID = 4;
    static final int MEMBER_FIRST = 8;
    static final int MEMBER_DELIVERY = 16;
    static final int MEMBER_FIRST_FRAME = 24;
    static final int MEMBER_NUMBER = 32;
    // Words of the member itself.
    static final int MEMBER_RELEASED = 64;
    static final int MEMBER_SLEEPS = 72;
    static final int MEMBER_LEFT = 76;

    static final int MEMBER_FREE = 0;
    static final int MEMBER_ACTIVE = 1;

    static final int METADATA_BYTES_MAX = 1024;

    static final int ENTRIES = 4096;
    static final int MEMBERS = 64;

    private SegmentLayout() {}

    private static int entries() {
        return HEADER_BYTES + MEMBERS * MEMBER_BYTES;
    }

    /// Index of an entry in an array of as many.
    static int index(final long number) {
        return (int) (number & (ENTRIES - 1));
    }

    static int entry(final long number) {
        return entries() + index(number) * ENTRY_BYTES;
    }

    static int metadata(final long number) {
        return entries() + ENTRIES * ENTRY_BYTES + index(number) * METADATA_BYTES_MAX;
    }

    /// The copy of the checkpoint that the n-th is written to.
    static int checkpoint(final long number) {
        return CHECKPOINTS_AT + (int) (number & 1) * CHECKPOINT_BYTES;
    }

    static int member(final int index) {
        return HEADER_BYTES + index * MEMBER_BYTES;
    }

    // Device memory of members, in a record for each.
    static final int DEVICE_BYTES = 1024;
    static final int DEVICE_WISH = 0;
    static final int DEVICE_STATE = 4;
    static final int DEVICE_IDENTITY = 8;
    static final int DEVICE_ID = 24;
    static final int DEVICE_PROCESS = 32;
    static final int DEVICE_SLOTS = 36;
    static final int DEVICE_SLOT_BYTES = 40;
    static final int DEVICE_MEMORY_BYTES = 48;
    static final int DEVICE_FIRST = 56;
    static final int DEVICE_DECIDED = 64;
    static final int DEVICE_USES = 72;
    static final int DEVICE_HOLDS = 80;
    static final int DEVICE_HANDLE_BYTES = 88;
    static final int DEVICE_HANDLE = 96;
    static final int DEVICE_NAMESPACE = 256;
    static final int DEVICE_SLOT = 512;
    static final int DEVICE_SLOTS_MAX = 64;

    // Wishes: whether a member takes frames from device memory of another one. Unknown is 0.
    static final int WANTS = 1;
    static final int WANTS_NOT = 2;
    // As WANTS, of a member that offers no memory of its own.
    static final int TAKES = 3;

    // States of a member's own memory. None is 0.
    static final int OFFERED = 1;

    /// A member's record about device memory.
    static int device(final int index) {
        return entries() + ENTRIES * (ENTRY_BYTES + METADATA_BYTES_MAX) + index * DEVICE_BYTES;
    }

    // Formats of frames, in places from 1 on.
    static final int FORMATS = 64;
    static final int FORMAT_STRIDE = 1088;
    static final int FORMAT_SERIAL = 0;
    static final int FORMAT_LENGTH = 4;
    static final int FORMAT_BYTES = 16;
    static final int FORMAT_BYTES_MAX = 1024;

    /// The format at a place.
    static int format(final int place) {
        return device(MEMBERS) + (place - 1) * FORMAT_STRIDE;
    }

    // A member's record about the frames that its user has.
    static final int READER_BYTES = 64;
    static final int READER_HELD = 0;
    static final int READER_COPIED = 8;

    /// A member's record about the frames that its user has.
    static int reader(final int index) {
        return format(FORMATS + 1) + index * READER_BYTES;
    }

    static int wordsBytes() {
        return reader(MEMBERS);
    }

    /// The version of an entry that holds the frame or loss of this number; one less while it is written.
    static long version(final long number) {
        return 2 * number + 2;
    }
}
