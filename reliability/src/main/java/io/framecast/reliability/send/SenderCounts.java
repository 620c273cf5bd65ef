package io.framecast.reliability.send;

/// Counters of a sender machine. One thread writes; others may read stale values.
public final class SenderCounts {
    long sentDatagrams;
    long repairedDatagrams;
    long nacks;
    long acks;
    long heartbeats;
    long timeouts;
    long evictions;
    long aggregates;
    long instructions;
    long failovers;
    long fedDatagrams;
    long writtenDatagrams;
    long feedFailures;
    long frameRequests;
    int coRoots;
    long creditWords;
    long impossibleWords;
    long creditDatagrams;
    long linkFailures;
    int links;
    long refusals;

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

    /// Retransmissions without a request: a member made no progress for a timeout.
    public long timeouts() {
        return timeouts;
    }

    /// ACKs of co-roots for their groups; among [#acks].
    public long aggregates() {
        return aggregates;
    }

    /// ASSIGN and REPAIR_GROUP datagrams sent.
    public long instructions() {
        return instructions;
    }

    /// Co-roots replaced.
    public long failovers() {
        return failovers;
    }

    /// Datagrams that went to co-roots by unicast as well.
    public long fedDatagrams() {
        return fedDatagrams;
    }

    /// Datagrams posted to the device as writes into co-roots' replicas.
    public long writtenDatagrams() {
        return writtenDatagrams;
    }

    /// Replicas that were written to until their connection ended.
    public long feedFailures() {
        return feedFailures;
    }

    /// FRAME_REQUEST datagrams taken.
    public long frameRequests() {
        return frameRequests;
    }

    /// Co-roots now.
    public int coRoots() {
        return coRoots;
    }

    /// Grants read from the status vector.
    public long creditWords() {
        return creditWords;
    }

    /// Words that no correct member writes; each closed a connection.
    public long impossibleWords() {
        return impossibleWords;
    }

    /// ACKs and NACKs with a new grant.
    public long creditDatagrams() {
        return creditDatagrams;
    }

    /// RC connections that failed, or that the source closed.
    public long linkFailures() {
        return linkFailures;
    }

    /// Members whose grants are read from the status vector now.
    public int links() {
        return links;
    }

    public long evictions() {
        return evictions;
    }

    /// Joins refused.
    public long refusals() {
        return refusals;
    }
}
