package io.framecast.reliability.receive;

/// Frames, one after another, that a receiver dropped whole. Reused: valid until the next is asked for.
public final class DroppedFrames {
    private long firstFrameId;
    private long frames;
    private long firstSequence;
    private long endSequence;
    private LossReason reason = LossReason.UNREPAIRABLE;

    DroppedFrames frames(final long firstId, final long count, final LossReason why) {
        firstFrameId = firstId;
        frames = count;
        reason = why;
        return this;
    }

    DroppedFrames sequences(final long first, final long end) {
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
