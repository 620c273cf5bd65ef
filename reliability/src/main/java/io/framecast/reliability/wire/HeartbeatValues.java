package io.framecast.reliability.wire;

/// What changes from heartbeat to heartbeat. Mutable and reused.
public final class HeartbeatValues {
    final ControlIds ids;
    long nextSequence;
    long nextFrameId;
    long sourceTimeNs;
    long rttNs;
    int members;

    public HeartbeatValues(final ControlIds ids) {
        this.ids = ids;
    }

    /// Sets how far the stream has come.
    public HeartbeatValues progress(final long sequence, final long frameId) {
        nextSequence = sequence;
        nextFrameId = frameId;
        return this;
    }

    /// Sets what receivers scale their timers by.
    public HeartbeatValues timing(final long nowNs, final long groupRttNs, final int groupSize) {
        sourceTimeNs = nowNs;
        rttNs = groupRttNs;
        members = groupSize;
        return this;
    }
}
