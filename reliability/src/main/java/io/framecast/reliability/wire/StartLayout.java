package io.framecast.reliability.wire;

import java.lang.foreign.MemorySegment;

/// START, source → receiver: the receiver is a member from this frame boundary on. Repeated until its first
/// ACK.
///
/// ```
///  40 firstSequence u64  48 firstFrameId u64  56 newestFormat u32 (serial of the newest format; 0: none)  60 0
/// ```
public final class StartLayout {
    public static final LongField FIRST_SEQUENCE = new LongField(40);
    public static final LongField FIRST_FRAME_ID = new LongField(48);
    /// A multicast FORMAT up to this one may be out of date; formats that hold come to the receiver itself.
    public static final IntField NEWEST_FORMAT = new IntField(56);
    static final IntField RESERVED = new IntField(60);
    static final int LENGTH = 64;

    private StartLayout() {}

    public static boolean isValid(final MemorySegment datagram, final long offset) {
        return ControlLayout.DATAGRAM_BYTES.get(datagram, offset) == LENGTH
                && FIRST_SEQUENCE.get(datagram, offset) >= 0
                && FIRST_SEQUENCE.get(datagram, offset) <= Wire.SEQUENCE_MAX
                && FIRST_FRAME_ID.get(datagram, offset) >= 0
                && NEWEST_FORMAT.get(datagram, offset) >= 0;
    }

    public static int write(
            final ControlWriter out, final long firstSequence, final long firstFrameId, final int newestFormat) {
        return out.begin(ControlLayout.TYPE_START, 0)
                .put(FIRST_SEQUENCE, firstSequence)
                .put(FIRST_FRAME_ID, firstFrameId)
                .put(NEWEST_FORMAT, newestFormat)
                .put(RESERVED, 0)
                .seal(LENGTH);
    }
}
