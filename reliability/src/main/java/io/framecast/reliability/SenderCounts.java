package io.framecast.reliability;

import io.framecast.reliability.wire.LeaveLayout.Reason;

/// What a sender machine did. One thread writes; others may read stale values.
public final class SenderCounts {
    long sentDatagrams;
    long repairedDatagrams;
    long nacks;
    long acks;
    long heartbeats;
    long timeouts;
    long evictions;
    long refusals;
    Reason refusalReason = Reason.LEFT;

    public long sentDatagrams() {
        return sentDatagrams;
    }

    public long repairedDatagrams() {
        return repairedDatagrams;
    }

    public long nacks() {
        return nacks;
    }

    public long acks() {
        return acks;
    }

    public long heartbeats() {
        return heartbeats;
    }

    /// Retransmissions that nobody asked for: a member made no progress for a timeout.
    public long timeouts() {
        return timeouts;
    }

    public long evictions() {
        return evictions;
    }

    /// Joins refused.
    public long refusals() {
        return refusals;
    }

    /// Why the last join was refused; meaningful once one was.
    public Reason refusalReason() {
        return refusalReason;
    }
}
