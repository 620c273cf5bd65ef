package io.framecast.reliability;

/// What a sender machine did. One thread writes; others may read stale values.
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

    /// Retransmissions that nobody asked for: a member made no progress for a timeout.
    public long timeouts() {
        return timeouts;
    }

    /// ACKs of co-roots for their sets; among [#acks].
    public long aggregates() {
        return aggregates;
    }

    /// ASSIGN and SET datagrams sent.
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

    /// Datagrams that were given to the device to be written into co-roots' copies.
    public long writtenDatagrams() {
        return writtenDatagrams;
    }

    /// Copies that were written to until their link ended.
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

    /// Words that no member can have written in good faith; each ended a link.
    public long impossibleWords() {
        return impossibleWords;
    }

    /// ACKs and NACKs that granted what was not known before.
    public long creditDatagrams() {
        return creditDatagrams;
    }

    /// Links that could not be made, or were ended by the source.
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
