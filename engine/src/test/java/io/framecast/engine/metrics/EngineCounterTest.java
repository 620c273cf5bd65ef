package io.framecast.engine.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.engine.metrics.EngineCounter.Kind;
import io.framecast.reliability.count.Metric;
import io.framecast.reliability.count.Metric.Unit;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Prometheus' naming conventions over every metric, of the engine and of machines; and the names that dashboards
/// know.
final class EngineCounterTest {
    // New metrics come behind these.
    private static final List<String> KNOWN = """
            counter_table_overflows_total
            stream_info
            published_frames_total
            published_bytes_total
            publish_back_pressured_total
            window_used_bytes
            credit_remaining_datagrams
            ready_members
            member_lag_datagrams
            member_credit_datagrams
            member_requested_repairs_total
            member_held_back_seconds_total
            member_held_frames
            member_copied_frames_total
            evictions_total
            join_refusals_total
            round_trip_seconds
            co_roots
            served_members
            failovers_total
            sent_datagrams_total
            sent_bytes_total
            received_datagrams_total
            received_bytes_total
            receive_truncated_total
            receive_malformed_total
            receive_overruns_total
            send_back_pressured_total
            system_errors_total
            sent_repairs_total
            limited_repairs_total
            received_repairs_total
            refused_repairs_total
            sent_nacks_total
            received_nacks_total
            sent_acks_total
            received_acks_total
            sent_heartbeats_total
            received_heartbeats_total
            received_aggregates_total
            received_reports_total
            sent_instructions_total
            sent_set_repairs_total
            ack_triggers_total
            duplicate_datagrams_total
            early_datagrams_total
            rejected_datagrams_total
            protection_events_total
            delivered_frames_total
            delivered_bytes_total
            in_place_frames_total
            reassembled_bytes_total
            dropped_frames_total
            stored_bytes_total
            nic_copied_bytes_total
            nic_copy_fallbacks_total
            gathered_bytes_total
            loaded_bytes_total
            copied_out_bytes_total
            joined_sources
            rejoins_total
            written_grants_total
            read_grants_total
            credit_datagrams_total
            pulled_datagrams_total
            set_pulled_datagrams_total
            set_links_total
            feed_written_datagrams_total
            feed_taken_datagrams_total
            own_repairs_total
            one_sided_fallbacks_total
            linked_members
            device_allocated_bytes
            device_pinned_bytes
            device_objects
            memory_registrations_total
            registration_hits_total
            """.lines().map(String::strip).toList();

    static List<Metric> metrics() {
        return EngineCounter.metrics();
    }

    @ParameterizedTest
    @MethodSource("metrics")
    void shouldFollowConventionsWhenNamed(final Metric metric) {
        final String name = metric.exportedName();
        assertTrue(name.matches("framecast(_[a-z]+)+"), name);
        assertEquals(Kind.of(metric) == Kind.COUNTER, name.endsWith("_total"), name);
        final String family = metric.familyName();
        assertFalse(family.endsWith("_total"), family);
        assertEquals(metric.unit() == Unit.BYTES, family.endsWith("_bytes"), family);
        assertEquals(metric.unit() == Unit.NANOSECONDS, family.endsWith("_seconds"), family);
        assertTrue(metric.help().matches("[A-Z].*\\."), metric.help());
        assertTrue(name.getBytes(StandardCharsets.UTF_8).length <= CounterLayout.NAME.bytesMax());
    }

    @Test
    void shouldBeToldApartWhenExported() {
        final Set<String> families = new HashSet<>();
        for (final Metric metric : EngineCounter.metrics()) {
            assertTrue(families.add(metric.familyName()), metric + " shares its name");
        }
    }

    @Test
    void shouldKeepNamesAndOrder() {
        final List<String> names =
                EngineCounter.metrics().stream().map(Metric::name).toList();
        assertEquals(KNOWN, names.subList(0, KNOWN.size()));
    }
}
