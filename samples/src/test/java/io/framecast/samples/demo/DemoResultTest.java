package io.framecast.samples.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class DemoResultTest {
    private static final Map<String, Object> SIDE = Map.of("frames", 5L, "bytes", 50L, "stream_crc32c", "0123abcd");

    // One report for each number of datagrams.
    private static DemoResult result(final List<List<Integer>> hosts, final Long... read) {
        final List<Map<?, ?>> reports = Stream.of(read)
                .<Map<?, ?>>map(datagrams -> Map.of(
                        "device",
                        "host",
                        "subscribers",
                        List.of(Map.of(
                                "frames",
                                5L,
                                "bytes",
                                50L,
                                "stream_crc32c",
                                "0123abcd",
                                "received_datagrams",
                                datagrams))))
                .toList();
        return new DemoResult(10, Map.of("transport", "udp", "publisher", SIDE), reports, hosts);
    }

    @Test
    void shouldCountWhatAHostReadOnceAsSaved() {
        final DemoResult result = result(List.of(List.of(1, 2, 3), List.of(4)), 0L, 7_000L, 0L, 7_001L);
        assertEquals("", result.mismatch());
        assertEquals(
                List.of(
                        Map.of(
                                "subscribers",
                                List.of(1, 2, 3),
                                "received_datagrams",
                                7_000L,
                                "saved_datagrams",
                                14_000L),
                        Map.of("subscribers", List.of(4), "received_datagrams", 7_001L, "saved_datagrams", 0L)),
                result.json().get("hosts"));
        assertTrue(
                result.text()
                        .contains("host 1: 3 subscribers read 7,000 datagrams, 14,000 fewer than each by itself"
                                + " (2.0 copies saved)"),
                result.text());
    }

    @Test
    void shouldClaimNothingSavedWhereEachReadAll() {
        assertTrue(result(List.of(List.of(1, 2)), 7_000L, 7_000L).text().contains("(0.0 copies saved)"));
    }
}
