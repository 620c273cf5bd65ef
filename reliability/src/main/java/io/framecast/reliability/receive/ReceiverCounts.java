package io.framecast.reliability.receive;

import io.framecast.reliability.flow.AckScheduler;
import io.framecast.reliability.flow.AckTrigger;
import org.jspecify.annotations.Nullable;

/// Counters of a receiver machine. One thread writes; others may read stale values.
public final class ReceiverCounts {
    long frames;
    long repairedDatagrams;
    long nacks;
    long nackedDatagrams;
    long acks;

    @Nullable
    AckScheduler scheduler;

    long droppedFrames;
    long aggregates;
    long reportsTaken;
    long repairsSent;
    int servedMembers;
    long grantsWritten;
    long slowWrites;
    long linkFailures;
    long pullRequests;
    long overduePulls;
    long coRootConnectionFailures;
    long memberLinks;
    long feedFailures;
    long fedDatagrams;
    long vainFeeds;
    long ownRepairs;

    /// Times that its source did not answer the address of its replica.
    public long feedFailures() {
        return feedFailures;
    }

    /// Datagrams that its source wrote into its replica.
    public long fedDatagrams() {
        return fedDatagrams;
    }

    /// Announced writes whose datagrams were not in the replica.
    public long vainFeeds() {
        return vainFeeds;
    }

    /// Missing datagrams taken out of its own replica.
    public long ownRepairs() {
        return ownRepairs;
    }

    /// Grants written into the source's memory.
    public long grantsWritten() {
        return grantsWritten;
    }

    /// Grants whose writing took so long that they also went by datagram.
    public long slowWrites() {
        return slowWrites;
    }

    /// RC connections to the source that failed or broke.
    public long linkFailures() {
        return linkFailures;
    }

    /// RC connections to co-roots that failed or broke.
    public long coRootConnectionFailures() {
        return coRootConnectionFailures;
    }

    /// Answers to a member, as its co-root, with the address of the replica.
    public long memberLinks() {
        return memberLinks;
    }

    /// Datagrams requested by RDMA read from the source's window or a co-root's replica.
    public long pullRequests() {
        return pullRequests;
    }

    /// Datagrams requested by NACK although they were readable: two reads did not bring them in time, or one was in
    /// vain.
    public long overduePulls() {
        return overduePulls;
    }

    public long frames() {
        return frames;
    }

    /// Repairs that were needed.
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

    /// Of [#acks], the ACKs that this trigger made due.
    public long acks(final AckTrigger trigger) {
        final AckScheduler current = scheduler;
        return current == null ? 0 : current.sent(trigger);
    }

    /// ACKs sent for a whole group, as its co-root; among [#acks].
    public long aggregates() {
        return aggregates;
    }

    /// ACKs and NACKs taken from others, as their co-root.
    public long reportsTaken() {
        return reportsTaken;
    }

    /// Members of the group that it serves now as their co-root.
    public int servedMembers() {
        return servedMembers;
    }

    /// Datagrams sent to others, as their co-root.
    public long repairsSent() {
        return repairsSent;
    }

    /// Frames dropped whole.
    public long droppedFrames() {
        return droppedFrames;
    }
}
