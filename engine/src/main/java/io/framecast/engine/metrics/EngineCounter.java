package io.framecast.engine.metrics;

/// Every kind of counter: one constant per exported name. Names follow Prometheus: `framecast_` first, base
/// unit before the end, `_total` last on what only grows. Reasons and lanes are labels, so that sums over
/// them make sense.
public enum EngineCounter {
    /// How often [CounterTable#allocate] found the table full. Held by the table itself.
    TABLE_OVERFLOWS(1, "framecast_counter_table_overflows_total", Unit.EVENTS, "Counters that found no room."),

    FRAMES_PUBLISHED(10, "framecast_published_frames_total", Unit.FRAMES, "Frames taken from publishers."),
    BYTES_PUBLISHED(11, "framecast_published_bytes_total", Unit.BYTES, "Payload bytes taken from publishers."),
    PUBLISH_BACK_PRESSURED(
            12, "framecast_publish_back_pressured_total", Unit.EVENTS, "Publish calls answered BACK_PRESSURED."),
    WINDOW_USED(13, "framecast_window_used_bytes", Unit.BYTES, "Payload bytes held in the send window for repair."),
    CREDIT_REMAINING(
            14,
            "framecast_credit_remaining_datagrams",
            Unit.DATAGRAMS,
            "Datagrams that may be sent before more credit."),
    MEMBERS_READY(15, "framecast_ready_members", Unit.MEMBERS, "Receivers that the source waits for."),
    EVICTIONS(
            16,
            "framecast_evictions_total",
            Unit.EVENTS,
            "Receivers evicted, for silence or for holding the source back."),
    JOIN_REFUSALS(17, "framecast_join_refusals_total", Unit.EVENTS, "Joins refused, by reason."),
    ROUND_TRIP(18, "framecast_round_trip_seconds", Unit.NANOSECONDS, "Smoothed round trip time."),
    CO_ROOTS(19, "framecast_co_roots", Unit.MEMBERS, "Receivers that serve others, as their source counts them."),
    SERVED_MEMBERS(20, "framecast_served_members", Unit.MEMBERS, "Receivers that this one serves as their co-root."),
    FAILOVERS(21, "framecast_failovers_total", Unit.EVENTS, "Co-roots replaced."),

    SENT_DATAGRAMS(30, "framecast_sent_datagrams_total", Unit.DATAGRAMS, "Datagrams sent, by lane."),
    SENT_BYTES(31, "framecast_sent_bytes_total", Unit.BYTES, "Bytes of datagrams sent, headers included, by lane."),
    RECEIVED_DATAGRAMS(32, "framecast_received_datagrams_total", Unit.DATAGRAMS, "Datagrams received, by lane."),
    RECEIVED_BYTES(
            33,
            "framecast_received_bytes_total",
            Unit.BYTES,
            "Bytes of datagrams received, headers included, by lane."),
    RECEIVE_TRUNCATED(
            34, "framecast_receive_truncated_total", Unit.DATAGRAMS, "Datagrams longer than a slot, dropped, by lane."),
    RECEIVE_MALFORMED(
            35,
            "framecast_receive_malformed_total",
            Unit.DATAGRAMS,
            "Datagrams shorter than a header or of a misfit segment size, dropped, by lane."),
    RECEIVE_OVERRUNS(
            36,
            "framecast_receive_overruns_total",
            Unit.DATAGRAMS,
            "Datagrams that the kernel or driver dropped for want of room, by lane."),
    SEND_BACK_PRESSURED(37, "framecast_send_back_pressured_total", Unit.EVENTS, "Sends the system put off, by lane."),
    SYSTEM_ERRORS(38, "framecast_system_errors_total", Unit.EVENTS, "Other errors of the system, survived, by lane."),

    REPAIRS_SENT(50, "framecast_sent_repairs_total", Unit.DATAGRAMS, "Datagrams sent again."),
    REPAIRS_RECEIVED(51, "framecast_received_repairs_total", Unit.DATAGRAMS, "Repairs that arrived and were needed."),
    REPAIRS_REFUSED(
            66,
            "framecast_refused_repairs_total",
            Unit.DATAGRAMS,
            "Repairs that arrived and found no buffer to mend their frame in."),
    NACKS_SENT(52, "framecast_sent_nacks_total", Unit.DATAGRAMS, "NACKs sent."),
    NACKS_RECEIVED(53, "framecast_received_nacks_total", Unit.DATAGRAMS, "NACKs received."),
    ACKS_SENT(54, "framecast_sent_acks_total", Unit.DATAGRAMS, "ACKs sent."),
    ACKS_RECEIVED(55, "framecast_received_acks_total", Unit.DATAGRAMS, "ACKs received."),
    HEARTBEATS_SENT(56, "framecast_sent_heartbeats_total", Unit.DATAGRAMS, "Heartbeats sent."),
    HEARTBEATS_RECEIVED(57, "framecast_received_heartbeats_total", Unit.DATAGRAMS, "Heartbeats received."),
    AGGREGATES_RECEIVED(61, "framecast_received_aggregates_total", Unit.DATAGRAMS, "ACKs of co-roots for their sets."),
    REPORTS_RECEIVED(
            62, "framecast_received_reports_total", Unit.DATAGRAMS, "ACKs and NACKs that a co-root took from its set."),
    INSTRUCTIONS_SENT(
            63, "framecast_sent_instructions_total", Unit.DATAGRAMS, "Told to members and co-roots: who serves whom."),
    SET_REPAIRS_SENT(
            64, "framecast_sent_set_repairs_total", Unit.DATAGRAMS, "Datagrams that a co-root sent to its set."),
    ACK_TRIGGERS(65, "framecast_ack_triggers_total", Unit.EVENTS, "ACKs sent, by what made them due."),
    DUPLICATES(58, "framecast_duplicate_datagrams_total", Unit.DATAGRAMS, "Datagrams that had arrived before."),
    EARLY(59, "framecast_early_datagrams_total", Unit.DATAGRAMS, "Datagrams sent before this receiver was a member."),
    REJECTED(
            60,
            "framecast_rejected_datagrams_total",
            Unit.DATAGRAMS,
            "Datagrams dropped for what they said, by reason (a Verdict in lower case)."),

    FRAMES_DELIVERED(70, "framecast_delivered_frames_total", Unit.FRAMES, "Frames polled by subscribers."),
    BYTES_DELIVERED(71, "framecast_delivered_bytes_total", Unit.BYTES, "Payload bytes polled by subscribers."),
    FRAMES_IN_PLACE(
            72, "framecast_in_place_frames_total", Unit.FRAMES, "Frames whose bytes lie where they first landed."),
    MENDED_BYTES(73, "framecast_mended_bytes_total", Unit.BYTES, "Payload bytes copied to make frames contiguous."),
    FRAMES_DROPPED(74, "framecast_dropped_frames_total", Unit.FRAMES, "Frames never given to subscribers, by reason."),
    STORED_BYTES(
            78, "framecast_stored_bytes_total", Unit.BYTES, "Payload bytes that the CPU stored into device memory."),
    NIC_COPIED_BYTES(
            79,
            "framecast_nic_copied_bytes_total",
            Unit.BYTES,
            "Payload bytes that a NIC copied from the host into device memory."),
    NIC_COPY_FALLBACKS(
            94,
            "framecast_nic_copy_fallbacks_total",
            Unit.EVENTS,
            "Runs of datagrams that the copy engine copied in a NIC's place, by reason."),
    SOURCES_JOINED(76, "framecast_joined_sources", Unit.MEMBERS, "Sources that a subscriber receives from."),
    REJOINS(77, "framecast_rejoins_total", Unit.EVENTS, "Sources joined again after they were lost."),
    GRANTS_WRITTEN(
            80, "framecast_written_grants_total", Unit.EVENTS, "Grants written into the source's memory, one-sided."),
    GRANTS_READ(81, "framecast_read_grants_total", Unit.EVENTS, "Grants that a source found in its status vector."),
    CREDIT_DATAGRAMS(
            82,
            "framecast_credit_datagrams_total",
            Unit.DATAGRAMS,
            "ACKs and NACKs that granted a source what it did not know of."),
    DATAGRAMS_PULLED(
            83,
            "framecast_pulled_datagrams_total",
            Unit.DATAGRAMS,
            "Datagrams that a receiver read out of its source's window."),
    DATAGRAMS_PULLED_SET(
            86,
            "framecast_set_pulled_datagrams_total",
            Unit.DATAGRAMS,
            "Datagrams that a receiver read out of its co-root's copy of the window."),
    MEMBER_LINKS(
            87, "framecast_set_links_total", Unit.EVENTS, "Members of its set that a co-root told what they may read."),
    FEED_WRITTEN(
            88,
            "framecast_feed_written_datagrams_total",
            Unit.DATAGRAMS,
            "Datagrams that a source wrote into co-roots' copies of the window."),
    FEED_SENT(
            89,
            "framecast_feed_sent_datagrams_total",
            Unit.DATAGRAMS,
            "Datagrams that a source sent to co-roots by unicast, besides to the group."),
    FEED_TAKEN(
            95,
            "framecast_feed_taken_datagrams_total",
            Unit.DATAGRAMS,
            "Datagrams that a co-root found written into its copy of the window."),
    OWN_REPAIRS(
            96,
            "framecast_own_repairs_total",
            Unit.DATAGRAMS,
            "Datagrams that a co-root had missed, and took out of its own copy of the window."),
    ONE_SIDED_FALLBACKS(
            84,
            "framecast_one_sided_fallbacks_total",
            Unit.EVENTS,
            "What could not be done to a peer's memory, and went by datagram, by reason."),
    LINKED_MEMBERS(
            85, "framecast_linked_members", Unit.MEMBERS, "Receivers whose grants a source reads from its memory."),
    DEVICE_ALLOCATED(75, "framecast_device_allocated_bytes", Unit.BYTES, "Device memory allocated."),
    DEVICE_PINNED(90, "framecast_device_pinned_bytes", Unit.BYTES, "Pinned host memory of a subscriber's device."),
    DEVICE_OBJECTS(
            91,
            "framecast_device_objects",
            Unit.EVENTS,
            "What else a subscriber's device has given out: regions, streams, events, by kind."),
    MEMORY_REGISTRATIONS(
            92,
            "framecast_memory_registrations_total",
            Unit.EVENTS,
            "Ranges of memory that a channel's transport registered with its device."),
    REGISTRATION_HITS(
            93,
            "framecast_registration_hits_total",
            Unit.EVENTS,
            "Ranges that a channel's transport found registered.");

    /// Whether a value only grows.
    public enum Kind {
        COUNTER,
        GAUGE
    }

    /// What a value in the table counts.
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

    private final int id;
    private final String exportedName;
    private final Unit unit;
    private final String help;

    EngineCounter(final int id, final String exportedName, final Unit unit, final String help) {
        this.id = id;
        this.exportedName = exportedName;
        this.unit = unit;
        this.help = help;
    }

    /// Stable across versions; never used again for another meaning.
    public int id() {
        return id;
    }

    /// The full name, with `_total` on counters.
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
