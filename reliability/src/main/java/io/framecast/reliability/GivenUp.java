package io.framecast.reliability;

/// Frames, one after another, that a receiver gave up whole. Reused: valid during the call that tells of it.
public final class GivenUp {
    private long firstFrameId;
    private long frames;
    private long firstSequence;
    private long endSequence;
    private LossReason reason = LossReason.UNREPAIRABLE;

    GivenUp frames(final long firstId, final long count, final LossReason why) {
        firstFrameId = firstId;
        frames = count;
        reason = why;
        return this;
    }

    GivenUp sequences(final long first, final long end) {
        firstSequence = first;
        endSequence = end;
        return this;
    }

    public long firstFrameId() {
        return firstFrameId;
    }

    /// How many frames.
    public long frames() {
        return frames;
    }

    public long firstSequence() {
        return firstSequence;
    }

    /// Behind the last of them: the next frame begins there.
    public long endSequence() {
        return endSequence;
    }

    public LossReason reason() {
        return reason;
    }
}
