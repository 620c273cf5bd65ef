package io.framecast.reliability.receive;

import static io.framecast.reliability.count.Metric.Unit.DATAGRAMS;
import static io.framecast.reliability.count.Metric.Unit.EVENTS;
import static io.framecast.reliability.count.Metric.Unit.MEMBERS;

import io.framecast.reliability.count.Export;
import io.framecast.reliability.count.Metric;

/// Counters of a receiver machine. Each says how it is exported, in the order in which sessions export them.
public enum ReceiverCount {
    REPAIRED_DATAGRAMS(Export.always("received_repairs_total", DATAGRAMS, "Repairs that arrived and were needed.")),
    NACKS(Export.always("sent_nacks_total", DATAGRAMS, "NACKs sent.")),
    ACKS(Export.always("sent_acks_total", DATAGRAMS, "ACKs sent.")),
    /// Members of the group that it serves now.
    SERVED_MEMBERS(Export.always("served_members", MEMBERS, "Members that this receiver serves as their co-root.")),
    REPORTS_TAKEN(Export.always(
            "received_reports_total", DATAGRAMS, "ACKs and NACKs of its repair group that a co-root took.")),
    /// Answers to a member, as its co-root, with the address of the replica.
    MEMBER_LINKS(Export.always("set_links_total", EVENTS, "Members that a co-root allowed to read its replica.")),
    REPAIRS_SENT(
            Export.always("sent_set_repairs_total", DATAGRAMS, "Repairs that a co-root sent to its repair group.")),
    LIMITED_REPAIRS(Export.always(Metric.LIMITED_REPAIRS)),

    GRANTS_WRITTEN(
            Export.oneSided("written_grants_total", EVENTS, "Grants written into the source's memory, one-sided.")),
    FED_DATAGRAMS(Export.oneSided(
            "feed_taken_datagrams_total", DATAGRAMS, "Datagrams that a co-root found written into its replica.")),
    OWN_REPAIRS(Export.oneSided(
            "own_repairs_total", DATAGRAMS, "Datagrams that a co-root missed and took from its replica.")),
    /// Times that its source did not answer the address of its replica.
    FEED_FAILURES(Export.fallback("feed")),
    /// Announced writes whose datagrams were not in the replica.
    VAIN_FEEDS(Export.fallback("vain_feed")),
    /// Announced writes whose slots had been written again when the co-root looked.
    LATE_FEEDS(Export.fallback("late_feed")),
    /// RC connections to the source that failed or broke.
    LINK_FAILURES(Export.fallback("link")),
    /// Grants whose writing took so long that they also went by datagram.
    SLOW_WRITES(Export.fallback("slow_grant")),
    /// Datagrams requested by NACK although they were readable: two reads did not bring them in time, or one was
    /// in vain.
    OVERDUE_PULLS(Export.fallback("overdue_pull")),
    /// RC connections to co-roots that failed or broke.
    CO_ROOT_CONNECTION_FAILURES(Export.coRootFallback("set_link")),

    /// Datagrams requested by RDMA read from the source's window or a co-root's replica.
    PULL_REQUESTS(Export.INTERNAL),
    FRAMES(Export.INTERNAL),
    /// Requests for the format of a frame.
    FORMAT_REQUESTS(Export.INTERNAL),
    NACKED_DATAGRAMS(Export.INTERNAL),
    /// ACKs sent for a whole group, as its co-root; among [#ACKS].
    AGGREGATES(Export.INTERNAL),
    /// Frames dropped whole.
    DROPPED_FRAMES(Export.INTERNAL);

    // A record of constants.
    @SuppressWarnings("ImmutableEnumChecker")
    private final Export export;

    ReceiverCount(final Export export) {
        this.export = export;
    }

    /// How operators see it.
    public Export export() {
        return export;
    }
}
