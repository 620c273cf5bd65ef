package io.framecast.reliability.send;

import static io.framecast.reliability.count.Metric.Unit.DATAGRAMS;
import static io.framecast.reliability.count.Metric.Unit.EVENTS;
import static io.framecast.reliability.count.Metric.Unit.MEMBERS;

import io.framecast.reliability.count.Export;
import io.framecast.reliability.count.Metric;

/// Counters of a sender machine. Each says how it is exported, in the order in which sessions export them.
public enum SenderCount {
    REPAIRED_DATAGRAMS(Export.always("sent_repairs_total", DATAGRAMS, "Datagrams sent again.")),
    LIMITED_REPAIRS(Export.always(Metric.LIMITED_REPAIRS)),
    NACKS(Export.always("received_nacks_total", DATAGRAMS, "NACKs received.")),
    ACKS(Export.always("received_acks_total", DATAGRAMS, "ACKs received.")),
    HEARTBEATS(Export.always("sent_heartbeats_total", DATAGRAMS, "Heartbeats sent.")),
    /// Co-roots now.
    CO_ROOTS(Export.always("co_roots", MEMBERS, "Co-roots, as their source counts them.")),
    /// Among [#ACKS].
    AGGREGATES(Export.always("received_aggregates_total", DATAGRAMS, "ACKs of co-roots for their repair groups.")),
    FAILOVERS(Export.always("failovers_total", EVENTS, "Co-roots replaced.")),
    /// ASSIGN and REPAIR_GROUP datagrams.
    INSTRUCTIONS(Export.always("sent_instructions_total", DATAGRAMS, "Assignments sent to members and co-roots.")),
    EVICTIONS(
            Export.always("evictions_total", EVENTS, "Receivers evicted, for silence or for holding the source back.")),
    REFUSALS(Export.always("join_refusals_total", EVENTS, "Joins refused, by reason.")),

    CREDIT_WORDS(Export.oneSided("read_grants_total", EVENTS, "Grants that a source found in its status vector.")),
    CREDIT_DATAGRAMS(Export.oneSided(
            "credit_datagrams_total", DATAGRAMS, "ACKs and NACKs with a grant that was new to the source.")),
    /// Now.
    LINKS(Export.oneSided("linked_members", MEMBERS, "Receivers whose grants a source reads from its memory.")),
    /// Datagrams posted to the device as writes.
    WRITTEN_DATAGRAMS(Export.oneSided(
            "feed_written_datagrams_total", DATAGRAMS, "Datagrams that a source wrote into co-roots' replicas.")),
    /// Replicas that were written to until their connection ended.
    FEED_FAILURES(Export.fallback("feed")),
    /// RC connections that failed, or that the source closed.
    LINK_FAILURES(Export.fallback("link")),
    /// Words that no correct member writes; each closed a connection.
    IMPOSSIBLE_WORDS(Export.fallback("impossible_word")),

    SENT_DATAGRAMS(Export.INTERNAL),
    SOLICITS(Export.INTERNAL),
    /// Retransmissions without a request: a member made no progress for a timeout.
    TIMEOUTS(Export.INTERNAL),
    /// FRAME_REQUEST datagrams taken.
    FRAME_REQUESTS(Export.INTERNAL),
    /// FORMAT datagrams sent.
    FORMATS(Export.INTERNAL);

    // A record of constants.
    @SuppressWarnings("ImmutableEnumChecker")
    private final Export export;

    SenderCount(final Export export) {
        this.export = export;
    }

    /// How operators see it.
    public Export export() {
        return export;
    }
}
