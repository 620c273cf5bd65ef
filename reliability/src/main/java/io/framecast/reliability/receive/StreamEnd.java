package io.framecast.reliability.receive;

/// The end of a stream, once its source has announced it, checked against the known frames. An end within a frame,
/// or before a sent datagram, is invalid.
///
/// Pure state; one thread.
final class StreamEnd {
    private static final long UNKNOWN = Long.MAX_VALUE;

    private long finalSequence = UNKNOWN;
    private long framesEnd;

    /// Whether a sent stream may end at `sequence`.
    boolean admits(final long sequence) {
        return sequence <= finalSequence;
    }

    /// A frame ends there.
    void onFrame(final long end) {
        framesEnd = Math.max(framesEnd, end);
    }

    /// The source announces the end.
    ///
    /// @param sentEnd below which everything is known to be sent
    /// @return false when that end is impossible
    boolean onEnd(final long sequence, final long sentEnd) {
        if (finalSequence != UNKNOWN) {
            return sequence == finalSequence;
        }
        if (sequence < sentEnd || sequence < framesEnd) {
            return false;
        }
        finalSequence = sequence;
        return true;
    }

    /// Whether the stream ends at this frame boundary.
    boolean isAt(final long boundary) {
        return boundary == finalSequence;
    }
}
