package io.framecast.reliability.wire;

import java.lang.foreign.MemorySegment;

/// START, source → receiver: the receiver is a member from this frame boundary on. Repeated until its first
/// ACK.
///
/// ```
///  32 firstSequence u64  40 firstFrameId u64
/// ```
public final class StartLayout {
    static final int FIRST_SEQUENCE = 32;
    static final int FIRST_FRAME_ID = 40;
    static final int LENGTH = 48;

    private StartLayout() {}

    public static boolean isValid(final MemorySegment datagram, final long offset) {
        return ControlLayout.bytes(datagram, offset) == LENGTH
                && firstSequence(datagram, offset) >= 0
                && firstSequence(datagram, offset) <= Wire.SEQUENCE_MAX
                && firstFrameId(datagram, offset) >= 0;
    }

    public static long firstSequence(final MemorySegment datagram, final long offset) {
        return datagram.get(Wire.LONG, offset + FIRST_SEQUENCE);
    }

    public static long firstFrameId(final MemorySegment datagram, final long offset) {
        return datagram.get(Wire.LONG, offset + FIRST_FRAME_ID);
    }

    public static int write(
            final MemorySegment datagram,
            final ControlIds ids,
            final long firstSequence,
            final long firstFrameId,
            final HeaderChecksum checksum) {
        ControlLayout.begin(datagram, ControlLayout.TYPE_START, 0, ids);
        datagram.set(Wire.LONG, FIRST_SEQUENCE, firstSequence);
        datagram.set(Wire.LONG, FIRST_FRAME_ID, firstFrameId);
        return ControlLayout.seal(datagram, LENGTH, checksum);
    }
}
