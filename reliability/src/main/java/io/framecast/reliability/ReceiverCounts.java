package io.framecast.reliability;

/// What a receiver machine did. One thread writes; others may read stale values.
public final class ReceiverCounts {
    long frames;
    long repairedDatagrams;
    long nacks;
    long nackedDatagrams;
    long acks;
    long givenUpFrames;

    public long frames() {
        return frames;
    }

    /// Datagrams that came by the repair lane and were needed.
    public long repairedDatagrams() {
        return repairedDatagrams;
    }

    public long nacks() {
        return nacks;
    }

    public long nackedDatagrams() {
        return nackedDatagrams;
    }

    public long acks() {
        return acks;
    }

    /// Frames that were given up whole.
    public long givenUpFrames() {
        return givenUpFrames;
    }
}
