package io.framecast.reliability.receive;

/// Counters of a receiver machine.
public enum ReceiverCount {
    /// Times that its source did not answer the address of its replica.
    FEED_FAILURES,
    /// Datagrams that its source wrote into its replica.
    FED_DATAGRAMS,
    /// Announced writes whose datagrams were not in the replica.
    VAIN_FEEDS,
    /// Announced writes whose slots had been written again when the co-root looked.
    LATE_FEEDS,
    /// Missing datagrams taken out of its own replica.
    OWN_REPAIRS,
    /// Grants written into the source's memory.
    GRANTS_WRITTEN,
    /// Grants whose writing took so long that they also went by datagram.
    SLOW_WRITES,
    /// RC connections to the source that failed or broke.
    LINK_FAILURES,
    /// RC connections to co-roots that failed or broke.
    CO_ROOT_CONNECTION_FAILURES,
    /// Answers to a member, as its co-root, with the address of the replica.
    MEMBER_LINKS,
    /// Datagrams requested by RDMA read from the source's window or a co-root's replica.
    PULL_REQUESTS,
    /// Datagrams requested by NACK although they were readable: two reads did not bring them in time, or one was in
    /// vain.
    OVERDUE_PULLS,
    FRAMES,
    /// Repairs that were needed.
    REPAIRED_DATAGRAMS,
    /// Requests for the format of a frame.
    FORMAT_REQUESTS,
    NACKS,
    NACKED_DATAGRAMS,
    ACKS,
    /// ACKs sent for a whole group, as its co-root; among [#ACKS].
    AGGREGATES,
    /// ACKs and NACKs taken from members, as their co-root.
    REPORTS_TAKEN,
    /// Members of the group that it serves now as their co-root.
    SERVED_MEMBERS,
    /// Datagrams sent to members, as their co-root.
    REPAIRS_SENT,
    /// Repairs that it did not send, as a co-root, because a member asked for more than its share of the data rate.
    LIMITED_REPAIRS,
    /// Frames dropped whole.
    DROPPED_FRAMES
}
