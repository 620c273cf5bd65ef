package io.framecast.reliability.wire;

import java.lang.foreign.MemorySegment;

/// START, source → receiver: the receiver is a member from this frame boundary on. Repeated until its first
/// ACK.
///
/// ```
///  40 firstSequence u64  48 firstFrameId u64
/// ```
public final class StartLayout {
    public static final LongField FIRST_SEQUENCE = new LongField(40);
    public static final LongField FIRST_FRAME_ID = new LongField(48);
    static final int LENGTH = 56;

    private StartLayout() {}

    public static boolean isValid(final MemorySegment datagram, final long offset) {
        return ControlLayout.DATAGRAM_BYTES.get(datagram, offset) == LENGTH
                && FIRST_SEQUENCE.get(datagram, offset) >= 0
                && FIRST_SEQUENCE.get(datagram, offset) <= Wire.SEQUENCE_MAX
                && FIRST_FRAME_ID.get(datagram, offset) >= 0;
    }

    public static int write(final ControlWriter out, final long firstSequence, final long firstFrameId) {
        return out.begin(ControlLayout.TYPE_START, 0)
                .put(FIRST_SEQUENCE, firstSequence)
                .put(FIRST_FRAME_ID, firstFrameId)
                .seal(LENGTH);
    }
}
