package io.framecast.reliability.send;

/// Counters of a sender machine.
public enum SenderCount {
    SENT_DATAGRAMS,
    REPAIRED_DATAGRAMS,
    NACKS,
    ACKS,
    HEARTBEATS,
    SOLICITS,
    /// Retransmissions without a request: a member made no progress for a timeout.
    TIMEOUTS,
    /// ACKs of co-roots for their groups; among [#ACKS].
    AGGREGATES,
    /// ASSIGN and REPAIR_GROUP datagrams sent.
    INSTRUCTIONS,
    /// Co-roots replaced.
    FAILOVERS,
    /// Datagrams that went to co-roots by unicast as well.
    FED_DATAGRAMS,
    /// Datagrams that the lane to a co-root had no room for: the co-root asks for them.
    UNFED_DATAGRAMS,
    /// Datagrams posted to the device as writes into co-roots' replicas.
    WRITTEN_DATAGRAMS,
    /// Replicas that were written to until their connection ended.
    FEED_FAILURES,
    /// FRAME_REQUEST datagrams taken.
    FRAME_REQUESTS,
    /// FORMAT datagrams sent.
    FORMATS,
    /// Co-roots now.
    CO_ROOTS,
    /// Grants read from the status vector.
    CREDIT_WORDS,
    /// Words that no correct member writes; each closed a connection.
    IMPOSSIBLE_WORDS,
    /// ACKs and NACKs with a new grant.
    CREDIT_DATAGRAMS,
    /// RC connections that failed, or that the source closed.
    LINK_FAILURES,
    /// Members whose grants are read from the status vector now.
    LINKS,
    EVICTIONS,
    /// Joins refused.
    REFUSALS,
    /// Repairs that were not sent, because the member asked for more than its share of the data rate.
    LIMITED_REPAIRS
}
