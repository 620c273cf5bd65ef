package io.framecast.reliability.wire;

/// The fields that change from heartbeat to heartbeat. Mutable and reused.
public final class HeartbeatValues {
    long nextSequence;
    long nextFrameId;
    long sourceTimeNs;
    long rttNs;
    int members;
    int repairable;
    long clockNs;
    long askedClockNs = HeartbeatLayout.NO_CLOCK;
    long heardClockNs;

    /// Sets the stream's progress.
    public HeartbeatValues progress(final long sequence, final long frameId) {
        nextSequence = sequence;
        nextFrameId = frameId;
        return this;
    }

    /// Sets how many datagrams below the next sequence can still be sent again, at most a window.
    public HeartbeatValues repairable(final long datagrams) {
        repairable = (int) datagrams;
        return this;
    }

    /// Sets the clock that frames are stamped by.
    public HeartbeatValues clock(final long epochNs) {
        clockNs = epochNs;
        return this;
    }

    /// Makes it the answer to a SOLICIT, or none with [HeartbeatLayout#NO_CLOCK].
    public HeartbeatValues answer(final long askedEpochNs, final long heardEpochNs) {
        askedClockNs = askedEpochNs;
        heardClockNs = heardEpochNs;
        return this;
    }

    /// Sets the values by which receivers scale their timers.
    public HeartbeatValues timing(final long nowNs, final long groupRttNs, final int groupSize) {
        sourceTimeNs = nowNs;
        rttNs = groupRttNs;
        members = groupSize;
        return this;
    }
}
