package io.framecast.engine.metrics;

import static io.framecast.engine.metrics.EngineCounter.Unit.BYTES;
import static io.framecast.engine.metrics.EngineCounter.Unit.DATAGRAMS;
import static io.framecast.engine.metrics.EngineCounter.Unit.EVENTS;
import static io.framecast.engine.metrics.EngineCounter.Unit.FRAMES;
import static io.framecast.engine.metrics.EngineCounter.Unit.MEMBERS;
import static io.framecast.engine.metrics.EngineCounter.Unit.NANOSECONDS;

/// Every kind of counter: one constant per exported name. Names follow Prometheus: `framecast_` first, base
/// unit before the end, `_total` last on a value that only grows. Reasons and lanes are labels, so that sums
/// over them make sense.
public enum EngineCounter {
    /// How often [CounterTable#allocate] found the table full. The table itself holds it.
    TABLE_OVERFLOWS("counter_table_overflows_total", EVENTS, "Counters that found no room."),

    STREAM_INFO("stream_info", EVENTS, "Open streams, each as 1 with its role and transport."),
    FRAMES_PUBLISHED("published_frames_total", FRAMES, "Frames taken from publishers."),
    BYTES_PUBLISHED("published_bytes_total", BYTES, "Payload bytes taken from publishers."),
    PUBLISH_BACK_PRESSURED("publish_back_pressured_total", EVENTS, "Publish calls answered BACK_PRESSURED."),
    WINDOW_USED("window_used_bytes", BYTES, "Payload bytes held in the send window for repair."),
    CREDIT_REMAINING("credit_remaining_datagrams", DATAGRAMS, "Datagrams that may be sent before more credit."),
    MEMBERS_READY("ready_members", MEMBERS, "Receivers that the source waits for."),
    MEMBER_LAG("member_lag_datagrams", DATAGRAMS, "Datagrams sent that a member has not acknowledged."),
    MEMBER_CREDIT("member_credit_datagrams", DATAGRAMS, "Datagrams that a member would still take."),
    MEMBER_REPAIRS("member_requested_repairs_total", DATAGRAMS, "Datagrams that a member asked its source for again."),
    MEMBER_HELD_BACK("member_held_back_seconds_total", NANOSECONDS, "How long frames waited for a member."),
    MEMBER_FRAMES_HELD("member_held_frames", FRAMES, "Frames that a subscriber on the publisher's host has."),
    MEMBER_FRAMES_COPIED("member_copied_frames_total", FRAMES, "Frames that it copied for lack of room in the window."),
    EVICTIONS("evictions_total", EVENTS, "Receivers evicted, for silence or for holding the source back."),
    JOIN_REFUSALS("join_refusals_total", EVENTS, "Joins refused, by reason."),
    ROUND_TRIP("round_trip_seconds", NANOSECONDS, "Smoothed round trip time."),
    CO_ROOTS("co_roots", MEMBERS, "Co-roots, as their source counts them."),
    SERVED_MEMBERS("served_members", MEMBERS, "Members that this receiver serves as their co-root."),
    FAILOVERS("failovers_total", EVENTS, "Co-roots replaced."),

    SENT_DATAGRAMS("sent_datagrams_total", DATAGRAMS, "Datagrams sent, by lane."),
    SENT_BYTES("sent_bytes_total", BYTES, "Bytes of datagrams sent, headers included, by lane."),
    RECEIVED_DATAGRAMS("received_datagrams_total", DATAGRAMS, "Datagrams received, by lane."),
    RECEIVED_BYTES("received_bytes_total", BYTES, "Bytes of datagrams received, headers included, by lane."),
    RECEIVE_TRUNCATED("receive_truncated_total", DATAGRAMS, "Datagrams longer than a slot, dropped, by lane."),
    RECEIVE_MALFORMED("receive_malformed_total", DATAGRAMS, "Datagrams without a header or of a wrong size, by lane."),
    RECEIVE_OVERRUNS("receive_overruns_total", DATAGRAMS, "Datagrams dropped for want of a receive buffer, by lane."),
    SEND_BACK_PRESSURED("send_back_pressured_total", EVENTS, "Sends that the system deferred, by lane."),
    SYSTEM_ERRORS("system_errors_total", EVENTS, "Other errors of the system that the lane survived, by lane."),

    REPAIRS_SENT("sent_repairs_total", DATAGRAMS, "Datagrams sent again."),
    REPAIRS_LIMITED(
            "limited_repairs_total",
            DATAGRAMS,
            "Repairs that were not sent, because a member asked for more than its share of the data rate."),
    REPAIRS_RECEIVED("received_repairs_total", DATAGRAMS, "Repairs that arrived and were needed."),
    REPAIRS_REFUSED("refused_repairs_total", DATAGRAMS, "Repairs that found no reassembly buffer for their frame."),
    NACKS_SENT("sent_nacks_total", DATAGRAMS, "NACKs sent."),
    NACKS_RECEIVED("received_nacks_total", DATAGRAMS, "NACKs received."),
    ACKS_SENT("sent_acks_total", DATAGRAMS, "ACKs sent."),
    ACKS_RECEIVED("received_acks_total", DATAGRAMS, "ACKs received."),
    HEARTBEATS_SENT("sent_heartbeats_total", DATAGRAMS, "Heartbeats sent."),
    HEARTBEATS_RECEIVED("received_heartbeats_total", DATAGRAMS, "Heartbeats received."),
    AGGREGATES_RECEIVED("received_aggregates_total", DATAGRAMS, "ACKs of co-roots for their repair groups."),
    REPORTS_RECEIVED("received_reports_total", DATAGRAMS, "ACKs and NACKs of its repair group that a co-root took."),
    INSTRUCTIONS_SENT("sent_instructions_total", DATAGRAMS, "Assignments sent to members and co-roots."),
    SET_REPAIRS_SENT("sent_set_repairs_total", DATAGRAMS, "Repairs that a co-root sent to its repair group."),
    ACK_TRIGGERS("ack_triggers_total", EVENTS, "ACKs sent, by trigger."),
    DUPLICATES("duplicate_datagrams_total", DATAGRAMS, "Datagrams that had arrived before."),
    EARLY("early_datagrams_total", DATAGRAMS, "Datagrams sent before this receiver was a member."),
    REJECTED("rejected_datagrams_total", DATAGRAMS, "Datagrams dropped for their content, by reason."),
    PROTECTION(
            "protection_events_total",
            EVENTS,
            "Control datagrams and handshakes that auth= sealed, opened or refused, by event."),

    FRAMES_DELIVERED("delivered_frames_total", FRAMES, "Frames polled by subscribers."),
    BYTES_DELIVERED("delivered_bytes_total", BYTES, "Payload bytes polled by subscribers."),
    FRAMES_IN_PLACE("in_place_frames_total", FRAMES, "Frames whose bytes stay in the slots that received them."),
    REASSEMBLED_BYTES("reassembled_bytes_total", BYTES, "Payload bytes copied to make frames contiguous."),
    FRAMES_DROPPED("dropped_frames_total", FRAMES, "Frames never given to subscribers, by reason."),
    STORED_BYTES("stored_bytes_total", BYTES, "Payload bytes that the CPU stored into device memory."),
    NIC_COPIED_BYTES("nic_copied_bytes_total", BYTES, "Payload bytes that a NIC copied from the host to the device."),
    NIC_COPY_FALLBACKS("nic_copy_fallbacks_total", EVENTS, "Runs that the copy engine copied instead, by reason."),
    GATHERED_BYTES("gathered_bytes_total", BYTES, "Payload bytes that were sent from device memory."),
    LOADED_BYTES("loaded_bytes_total", BYTES, "Payload bytes that the CPU read out of device memory."),
    COPIED_OUT_BYTES("copied_out_bytes_total", BYTES, "Payload bytes that were copied from device memory to the host."),
    SOURCES_JOINED("joined_sources", MEMBERS, "Sources that a subscriber receives from."),
    REJOINS("rejoins_total", EVENTS, "Sources joined again after they were lost."),
    GRANTS_WRITTEN("written_grants_total", EVENTS, "Grants written into the source's memory, one-sided."),
    GRANTS_READ("read_grants_total", EVENTS, "Grants that a source found in its status vector."),
    CREDIT_DATAGRAMS("credit_datagrams_total", DATAGRAMS, "ACKs and NACKs with a grant that was new to the source."),
    DATAGRAMS_PULLED("pulled_datagrams_total", DATAGRAMS, "Datagrams read from the source's window by RDMA."),
    DATAGRAMS_PULLED_SET("set_pulled_datagrams_total", DATAGRAMS, "Datagrams read from a co-root's replica by RDMA."),
    MEMBER_LINKS("set_links_total", EVENTS, "Members that a co-root allowed to read its replica."),
    FEED_WRITTEN("feed_written_datagrams_total", DATAGRAMS, "Datagrams that a source wrote into co-roots' replicas."),
    FEED_SENT("feed_sent_datagrams_total", DATAGRAMS, "Datagrams that a source sent to co-roots by unicast as well."),
    FEED_TAKEN("feed_taken_datagrams_total", DATAGRAMS, "Datagrams that a co-root found written into its replica."),
    OWN_REPAIRS("own_repairs_total", DATAGRAMS, "Datagrams that a co-root missed and took from its replica."),
    ONE_SIDED_FALLBACKS("one_sided_fallbacks_total", EVENTS, "One-sided operations replaced by datagrams, by reason."),
    LINKED_MEMBERS("linked_members", MEMBERS, "Receivers whose grants a source reads from its memory."),
    DEVICE_ALLOCATED("device_allocated_bytes", BYTES, "Device memory allocated."),
    DEVICE_PINNED("device_pinned_bytes", BYTES, "Pinned host memory of a subscriber's device."),
    DEVICE_OBJECTS("device_objects", EVENTS, "Regions, streams and events of a subscriber's device, by kind."),
    MEMORY_REGISTRATIONS("memory_registrations_total", EVENTS, "Memory ranges that a transport registered."),
    REGISTRATION_HITS("registration_hits_total", EVENTS, "Memory ranges that a transport found registered.");

    /// Whether a value only grows.
    public enum Kind {
        COUNTER,
        GAUGE
    }

    /// The unit of a value in the table.
    public enum Unit {
        EVENTS("", 1),
        FRAMES("", 1),
        DATAGRAMS("", 1),
        MEMBERS("", 1),
        BYTES("bytes", 1),
        /// Prometheus wants base units: exported as seconds.
        NANOSECONDS("seconds", 1e9);

        private final String exported;
        private final double perExported;

        Unit(final String exported, final double perExported) {
            this.exported = exported;
            this.perExported = perExported;
        }

        /// Prometheus' base unit, which then ends the name; empty for plain counts.
        String exported() {
            return exported;
        }

        double export(final long value) {
            return value / perExported;
        }
    }

    private static final String TOTAL = "_total";

    private final String exportedName;
    private final Unit unit;
    private final String help;

    EngineCounter(final String name, final Unit unit, final String help) {
        exportedName = "framecast_" + name;
        this.unit = unit;
        this.help = help;
    }

    /// The full name, with `_total` on counters. It identifies the kind across versions.
    public String exportedName() {
        return exportedName;
    }

    public Unit unit() {
        return unit;
    }

    public String help() {
        return help;
    }

    public Kind kind() {
        return exportedName.endsWith(TOTAL) ? Kind.COUNTER : Kind.GAUGE;
    }

    /// The name of the family, as OpenMetrics has it: without `_total`.
    String familyName() {
        return kind() == Kind.COUNTER
                ? exportedName.substring(0, exportedName.length() - TOTAL.length())
                : exportedName;
    }
}
