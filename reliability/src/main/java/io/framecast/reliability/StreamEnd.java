package io.framecast.reliability;

/// Where a stream ends, once its source has said so, held against what is known of its frames: an end within a frame,
/// or before a datagram that was sent, is none.
///
/// Pure state; one thread.
final class StreamEnd {
    private static final long UNKNOWN = Long.MAX_VALUE;

    private long finalSequence = UNKNOWN;
    private long framesEnd;

    /// Whether something that was sent may end at `sequence`.
    boolean admits(final long sequence) {
        return sequence <= finalSequence;
    }

    /// A frame ends there.
    void onFrame(final long end) {
        framesEnd = Math.max(framesEnd, end);
    }

    /// The source says that nothing follows.
    ///
    /// @param sentEnd below which everything is known to be sent
    /// @return false when that cannot be
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
