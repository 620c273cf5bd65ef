package io.framecast.engine.metrics;

import static io.framecast.reliability.count.Metric.Unit.BYTES;
import static io.framecast.reliability.count.Metric.Unit.DATAGRAMS;
import static io.framecast.reliability.count.Metric.Unit.EVENTS;
import static io.framecast.reliability.count.Metric.Unit.FRAMES;
import static io.framecast.reliability.count.Metric.Unit.MEMBERS;
import static io.framecast.reliability.count.Metric.Unit.NANOSECONDS;

import io.framecast.reliability.count.Export;
import io.framecast.reliability.count.Metric;
import io.framecast.reliability.count.Metric.Unit;
import io.framecast.reliability.onesided.ReadCount;
import io.framecast.reliability.receive.ReceiverCount;
import io.framecast.reliability.send.SenderCount;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/// The counters that the engine has of its own, and those of machines that have a place among them: one constant
/// for each exported name, in the order in which Prometheus gets them. The counts of a machine have their names
/// and texts in its own enum ([SenderCount], [ReceiverCount], [ReadCount]); those that have no constant here are
/// exported behind the others.
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
    EVICTIONS(SenderCount.EVICTIONS.export()),
    JOIN_REFUSALS(SenderCount.REFUSALS.export()),
    ROUND_TRIP("round_trip_seconds", NANOSECONDS, "Smoothed round trip time."),
    CO_ROOTS(SenderCount.CO_ROOTS.export()),
    SERVED_MEMBERS(ReceiverCount.SERVED_MEMBERS.export()),
    FAILOVERS(SenderCount.FAILOVERS.export()),

    SENT_DATAGRAMS("sent_datagrams_total", DATAGRAMS, "Datagrams sent, by lane."),
    SENT_BYTES("sent_bytes_total", BYTES, "Bytes of datagrams sent, headers included, by lane."),
    RECEIVED_DATAGRAMS("received_datagrams_total", DATAGRAMS, "Datagrams received, by lane."),
    RECEIVED_BYTES("received_bytes_total", BYTES, "Bytes of datagrams received, headers included, by lane."),
    RECEIVE_TRUNCATED("receive_truncated_total", DATAGRAMS, "Datagrams longer than a slot, dropped, by lane."),
    RECEIVE_MALFORMED("receive_malformed_total", DATAGRAMS, "Datagrams without a header or of a wrong size, by lane."),
    RECEIVE_OVERRUNS("receive_overruns_total", DATAGRAMS, "Datagrams dropped for want of a receive buffer, by lane."),
    SEND_BACK_PRESSURED("send_back_pressured_total", EVENTS, "Sends that the system deferred, by lane."),
    SYSTEM_ERRORS("system_errors_total", EVENTS, "Other errors of the system that the lane survived, by lane."),

    REPAIRS_SENT(SenderCount.REPAIRED_DATAGRAMS.export()),
    REPAIRS_LIMITED(Metric.LIMITED_REPAIRS),
    REPAIRS_RECEIVED(ReceiverCount.REPAIRED_DATAGRAMS.export()),
    REPAIRS_REFUSED("refused_repairs_total", DATAGRAMS, "Repairs that found no reassembly buffer for their frame."),
    NACKS_SENT(ReceiverCount.NACKS.export()),
    NACKS_RECEIVED(SenderCount.NACKS.export()),
    ACKS_SENT(ReceiverCount.ACKS.export()),
    ACKS_RECEIVED(SenderCount.ACKS.export()),
    HEARTBEATS_SENT(SenderCount.HEARTBEATS.export()),
    HEARTBEATS_RECEIVED("received_heartbeats_total", DATAGRAMS, "Heartbeats received."),
    AGGREGATES_RECEIVED(SenderCount.AGGREGATES.export()),
    REPORTS_RECEIVED(ReceiverCount.REPORTS_TAKEN.export()),
    INSTRUCTIONS_SENT(SenderCount.INSTRUCTIONS.export()),
    SET_REPAIRS_SENT(ReceiverCount.REPAIRS_SENT.export()),
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
    GRANTS_WRITTEN(ReceiverCount.GRANTS_WRITTEN.export()),
    GRANTS_READ(SenderCount.CREDIT_WORDS.export()),
    CREDIT_DATAGRAMS(SenderCount.CREDIT_DATAGRAMS.export()),
    DATAGRAMS_PULLED(ReadCount.ARRIVED.ofSource()),
    DATAGRAMS_PULLED_SET(ReadCount.ARRIVED.ofCoRoot()),
    MEMBER_LINKS(ReceiverCount.MEMBER_LINKS.export()),
    FEED_WRITTEN(SenderCount.WRITTEN_DATAGRAMS.export()),
    FEED_TAKEN(ReceiverCount.FED_DATAGRAMS.export()),
    OWN_REPAIRS(ReceiverCount.OWN_REPAIRS.export()),
    ONE_SIDED_FALLBACKS(Metric.ONE_SIDED_FALLBACKS),
    LINKED_MEMBERS(SenderCount.LINKS.export()),
    DEVICE_ALLOCATED("device_allocated_bytes", BYTES, "Device memory allocated."),
    DEVICE_PINNED("device_pinned_bytes", BYTES, "Pinned host memory of a subscriber's device."),
    DEVICE_OBJECTS("device_objects", EVENTS, "Regions, streams and events of a subscriber's device, by kind."),
    MEMORY_REGISTRATIONS("memory_registrations_total", EVENTS, "Memory ranges that a transport registered."),
    REGISTRATION_HITS("registration_hits_total", EVENTS, "Memory ranges that a transport found registered.");

    /// Whether a value only grows.
    public enum Kind {
        COUNTER,
        GAUGE;

        static Kind of(final Metric metric) {
            return metric.onlyGrows() ? COUNTER : GAUGE;
        }
    }

    private static final List<Metric> METRICS = Stream.concat(
                    Arrays.stream(values()).map(EngineCounter::metric),
                    Stream.of(
                                    Arrays.stream(SenderCount.values()).map(SenderCount::export),
                                    Arrays.stream(ReceiverCount.values()).map(ReceiverCount::export),
                                    Arrays.stream(ReadCount.values()).map(ReadCount::ofSource),
                                    Arrays.stream(ReadCount.values()).map(ReadCount::ofCoRoot))
                            .flatMap(exports -> exports)
                            .filter(export -> export.scope() != Export.Scope.INTERNAL)
                            .map(Export::metric))
            .distinct()
            .toList();

    // A record of constants.
    @SuppressWarnings("ImmutableEnumChecker")
    private final Metric metric;

    private final String exportedName;

    EngineCounter(final String name, final Unit unit, final String help) {
        this(new Metric(name, unit, help));
    }

    EngineCounter(final Export count) {
        this(count.metric());
    }

    EngineCounter(final Metric metric) {
        this.metric = metric;
        exportedName = metric.exportedName();
    }

    public Metric metric() {
        return metric;
    }

    /// The full name, with `_total` on counters. It identifies the kind across versions.
    public String exportedName() {
        return exportedName;
    }

    /// All metrics, in the order in which Prometheus gets them: those of the constants, then those that machines
    /// count and that have no constant here.
    public static List<Metric> metrics() {
        return METRICS;
    }
}
