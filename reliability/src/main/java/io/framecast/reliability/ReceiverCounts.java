package io.framecast.reliability;

import io.framecast.reliability.flow.AckScheduler;
import io.framecast.reliability.flow.AckTrigger;
import org.jspecify.annotations.Nullable;

/// What a receiver machine did. One thread writes; others may read stale values.
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

    /// Times that its source did not answer where it could write to.
    public long feedFailures() {
        return feedFailures;
    }

    /// Datagrams that its source wrote into its copy.
    public long fedDatagrams() {
        return fedDatagrams;
    }

    /// Of what its source said it wrote, what was not there.
    public long vainFeeds() {
        return vainFeeds;
    }

    /// Datagrams that it missed and took out of its own copy.
    public long ownRepairs() {
        return ownRepairs;
    }

    /// Grants written into the source's memory.
    public long grantsWritten() {
        return grantsWritten;
    }

    /// Grants whose writing took so long that they were told by datagram.
    public long slowWrites() {
        return slowWrites;
    }

    /// Links that could not be made, or broke.
    public long linkFailures() {
        return linkFailures;
    }

    /// Links to co-roots that could not be made, or broke.
    public long coRootConnectionFailures() {
        return coRootConnectionFailures;
    }

    /// Times that a member of its set was told, as by its co-root, what it may read.
    public long memberLinks() {
        return memberLinks;
    }

    /// Datagrams that were to be read out of the source's window, or of a co-root's copy.
    public long pullRequests() {
        return pullRequests;
    }

    /// Datagrams asked for although they could be read: two reads had not brought them in time, or one was in
    /// vain.
    public long overduePulls() {
        return overduePulls;
    }

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

    /// Of [#acks], those that this made due.
    public long acks(final AckTrigger trigger) {
        final AckScheduler current = scheduler;
        return current == null ? 0 : current.sent(trigger);
    }

    /// ACKs sent for a whole set, as its co-root; among [#acks].
    public long aggregates() {
        return aggregates;
    }

    /// ACKs and NACKs taken from others, as their co-root.
    public long reportsTaken() {
        return reportsTaken;
    }

    /// Members of the set that it serves now as their co-root.
    public int servedMembers() {
        return servedMembers;
    }

    /// Datagrams sent to others, as their co-root.
    public long repairsSent() {
        return repairsSent;
    }

    /// Frames that were given up whole.
    public long droppedFrames() {
        return droppedFrames;
    }
}
