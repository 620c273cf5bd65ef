package io.framecast.samples.subscribe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

final class SourceLatenciesTest {
    private static final long MS = 1_000_000;

    private final SourceLatencies latencies = new SourceLatencies();

    private void record(final long session, final int frames, final long ns, final long errorNs) {
        for (int i = 0; i < frames; i++) {
            latencies.record(session, ns, 0, errorNs);
        }
    }

    @Test
    void shouldShowOneLineForOneSource() {
        record(0xca, 10, MS, Long.MAX_VALUE);
        assertEquals(
                List.of("latency publish to ready: p50 1000.4 µs, p99 1000.4 µs, max 1000.4 µs"), latencies.lines());
        assertTrue(latencies.sourcesJson().isEmpty());
    }

    @Test
    void shouldShowTheQuietSourceBesideTheBusyOne() {
        record(0xca, 1000, MS, 2_000);
        record(0xcb, 3, 500 * MS, Long.MAX_VALUE);
        record(0xca, 1000, MS, 2_000);
        final List<String> lines = latencies.lines();
        assertEquals(3, lines.size(), lines::toString);
        assertTrue(
                lines.get(0).startsWith("latency publish to ready: p50 1000.4 µs, p99 1000.4 µs, max "), lines.get(0));
        assertEquals(
                "latency of source 00000000000000ca: 2,000 frames, p50 1000.4 µs, p99 1000.4 µs, max 1000.4 µs (± 2.0 µs)",
                lines.get(1));
        assertTrue(lines.get(2).startsWith("latency of source 00000000000000cb: 3 frames, p50 500"), lines.get(2));
        assertEquals("00000000000000cb", latencies.sourcesJson().get(1).get("source"));
        assertEquals(3L, latencies.sourcesJson().get(1).get("frames"));
    }

    @Test
    void shouldCountSourcesBeyondTheFirst64Together() {
        for (int session = 1; session <= 100; session++) {
            record(session, 1, MS, Long.MAX_VALUE);
        }
        final List<String> lines = latencies.lines();
        assertEquals(66, lines.size());
        assertTrue(lines.getLast().startsWith("latency of other sources: 36 frames, "), lines.getLast());
    }
}
