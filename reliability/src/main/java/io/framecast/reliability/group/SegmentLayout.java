package io.framecast.reliability.group;

/// Places of the words that a leader and its followers share (docs/host-segment.md). Numbers are little-endian,
/// words of 8 bytes lie at multiples of 8. [TableLayout] has the places behind the frame table.
public final class SegmentLayout {
    public static final long MAGIC = 0x0001_4745_5343_4652L;
    public static final int VERSION = 7;

    // Header.
    public static final int MAGIC_AT = 0;
    public static final int VERSION_AT = 8;
    public static final int WORDS_BYTES_AT = 16;
    public static final int RING_BYTES_AT = 24;
    public static final int SESSION_AT = 32;
    public static final int GENERATION_AT = 40;
    public static final int ENTRIES_AT = 48;
    public static final int MEMBERS_AT = 52;
    public static final int FRAME_MAX_AT = 56;
    public static final int LEADER_PID_AT = 64;
    public static final int ORIGIN_AT = 68;
    public static final int PREDECESSOR_AT = 72;
    public static final int SLOT_BYTES_AT = 80;
    public static final int WINDOW_SLOTS_AT = 84;
    public static final int ALIVE_MS_AT = 88;
    public static final int RETAINS_AT = 92;
    public static final int SEAL_AT = 96;
    // Words of the leader that change, in lines of the cache of their own.
    public static final int PUBLISHED_AT = 128;
    public static final int STATE_AT = 136;
    public static final int WANTS_AT = 144;
    public static final int HEARTBEAT_AT = 152;
    // By successors, each of which adds one.
    public static final int CLAIMED_AT = 160;
    public static final int WAITS_AT = 164;
    public static final int FREED_AT = 168;
    public static final int WAITED_FROM_AT = 176;
    public static final int START_FRAME_AT = 184;
    public static final int CLOCK_OFFSET_AT = 192;
    public static final int CLOCK_ERROR_AT = 200;
    public static final int OPEN_AT = 208;
    public static final int LEADER_CLOCK_AT = 216;
    // Addresses of the source: a length byte, then the bytes.
    public static final int CONTROL_ADDRESS_AT = 256;
    public static final int DATA_ADDRESS_AT = 320;
    public static final int ADDRESS_BYTES_MAX = 32;
    public static final int HEADER_BYTES = 4096;

    // The checkpoint for a successor, in two copies that are written in turn.
    public static final int CHECKPOINTS_AT = 1024;
    public static final int CHECKPOINT_BYTES = 1536;
    public static final int CHECKPOINT_VERSION = 0;
    public static final int CHECKPOINT_SECRET = 8;
    public static final int CHECKPOINT_FIRST_SEQUENCE = 16;
    public static final int CHECKPOINT_FRAME_ID = 24;
    public static final int CHECKPOINT_ACKNOWLEDGED = 32;
    public static final int CHECKPOINT_GRANTED = 40;
    public static final int CHECKPOINT_FRAME_BYTES = 48;
    public static final int CHECKPOINT_TIMESTAMP = 56;
    public static final int CHECKPOINT_ATTRIBUTES = 64;
    public static final int CHECKPOINT_COMPLETE = 68;
    public static final int CHECKPOINT_OFFSET = 72;
    public static final int CHECKPOINT_METADATA_BYTES = 80;
    public static final int CHECKPOINT_FORMAT = 84;
    public static final int CHECKPOINT_METADATA = 128;

    // The owner of the ring: a receiver's, or the source's own window.
    public static final int RECEIVED = 0;
    public static final int SOURCE = 1;

    // No follower asked the source to wait for the leader.
    public static final long NOT_ASKED = Long.MAX_VALUE;
    // Of a member that begins with the session.
    public static final long FROM_START = -1;
    // Released by a member that holds nothing.
    public static final long NOTHING_HELD = Long.MAX_VALUE;

    // States of a segment.
    public static final int JOINING = 0;
    public static final int RUNNING = 1;
    public static final int END_OF_STREAM = 2;
    public static final int SOURCE_LOST = 3;

    // Entries of the frame table.
    public static final int ENTRY_BYTES = 64;
    public static final int ENTRY_VERSION = 0;
    public static final int ENTRY_KIND = 8;
    public static final int ENTRY_FLAGS = 12;
    public static final int ENTRY_FRAME_ID = 16;
    public static final int ENTRY_OFFSET = 24;
    public static final int ENTRY_LENGTH = 32;
    public static final int ENTRY_TIMESTAMP = 40;
    public static final int ENTRY_METADATA = 48;
    public static final int ENTRY_DETAIL = 52;
    public static final int ENTRY_END = 56;

    // Kinds of entries. The detail of a loss is its reason, that of a frame whether it lies where it was received.
    public static final int FRAME = 1;
    public static final int LOSS = 2;
    public static final int KEYFRAME = 1;
    // Of an entry's flags: the place of its format from this bit on; 0: none.
    public static final int ENTRY_FORMAT_SHIFT = 8;

    // Members.
    public static final int MEMBER_BYTES = 128;
    public static final int MEMBER_STATE = 0;
    public static final int MEMBER_PID = 4;
    public static final int MEMBER_FIRST = 8;
    public static final int MEMBER_DELIVERY = 16;
    public static final int MEMBER_FIRST_FRAME = 24;
    public static final int MEMBER_NUMBER = 32;
    // Words of the member itself.
    public static final int MEMBER_RELEASED = 64;
    public static final int MEMBER_SLEEPS = 72;
    public static final int MEMBER_LEFT = 76;

    public static final int MEMBER_FREE = 0;
    public static final int MEMBER_ACTIVE = 1;

    public static final int METADATA_BYTES_MAX = 1024;

    public static final int ENTRIES = 4096;
    public static final int MEMBERS = 64;

    private SegmentLayout() {}

    /// The copy of the checkpoint that the n-th is written to.
    public static int checkpoint(final long number) {
        return CHECKPOINTS_AT + (int) (number & 1) * CHECKPOINT_BYTES;
    }

    public static int member(final int index) {
        return HEADER_BYTES + index * MEMBER_BYTES;
    }

    // Device memory of members, in a record for each.
    public static final int DEVICE_BYTES = 1024;
    public static final int DEVICE_WISH = 0;
    public static final int DEVICE_STATE = 4;
    public static final int DEVICE_IDENTITY = 8;
    public static final int DEVICE_ID = 24;
    public static final int DEVICE_PROCESS = 32;
    public static final int DEVICE_SLOTS = 36;
    public static final int DEVICE_SLOT_BYTES = 40;
    public static final int DEVICE_MEMORY_BYTES = 48;
    public static final int DEVICE_FIRST = 56;
    public static final int DEVICE_DECIDED = 64;
    public static final int DEVICE_USES = 72;
    public static final int DEVICE_HOLDS = 80;
    public static final int DEVICE_HANDLE_BYTES = 88;
    public static final int DEVICE_HANDLE = 96;
    public static final int DEVICE_NAMESPACE = 256;
    public static final int DEVICE_SLOT = 512;
    public static final int DEVICE_SLOTS_MAX = 64;

    // Wishes: whether a member takes frames from device memory of another one. Unknown is 0.
    public static final int WANTS = 1;
    public static final int WANTS_NOT = 2;
    // As WANTS, of a member that offers no memory of its own.
    public static final int TAKES = 3;

    // States of a member's own memory. None is 0.
    public static final int OFFERED = 1;

    // Formats of frames, in places from 1 on.
    public static final int FORMATS = 64;
    public static final int FORMAT_STRIDE = 1088;
    public static final int FORMAT_SERIAL = 0;
    public static final int FORMAT_LENGTH = 4;
    public static final int FORMAT_BYTES = 16;
    public static final int FORMAT_BYTES_MAX = 1024;

    // A member's record about the frames that its user has.
    public static final int READER_BYTES = 64;
    public static final int READER_HELD = 0;
    public static final int READER_COPIED = 8;

    /// The version of an entry that holds the frame or loss of this number; one less while it is written.
    public static long version(final long number) {
        return 2 * number + 2;
    }
}
