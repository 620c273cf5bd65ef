package io.framecast.perf.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.samples.json.Json;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class ChaosReportTest {
    private static final ChaosPlan PLAN =
            new ChaosPlan(ChaosPlan.UDP, 9, 60, 6, 1, 2, 0.01, 2_000, 1_500, 60, 200_000, InjectedBug.NONE);
    private static final StreamLog.Memory BEFORE = new StreamLog.Memory(4 << 20, 100 << 20, 44);

    @Test
    void shouldTellSeedAndWhatWasNotMet() {
        final FaultResult fault = new FaultResult(
                1_234,
                "kill -9",
                "subscriber 3 (co-root)",
                "evicted and replaced",
                "nothing",
                1,
                List.of("subscriber 3 was not evicted"),
                Map.of("subscriber 0", 12L, "subscriber 1", 345L));
        final ChaosReport report = new ChaosReport(
                PLAN,
                List.of(fault),
                List.of(new MemoryRow("publisher", BEFORE, BEFORE, false, false, 0)),
                List.of("kill -9 of subscriber 3: was not evicted"),
                100,
                7,
                0,
                1,
                50,
                List.of(11L, 12L, 13L, 14L, 15L));
        assertFalse(report.isMet());
        assertTrue(report.text().contains("NOT MET: subscriber 3 was not evicted"), report.text());
        assertTrue(report.text().contains("expectations not met, seed 9"), report.text());
        assertTrue(report.text().contains("longest stall   345 ms"), report.text());
        final Map<?, ?> json = (Map<?, ?>) Json.parse(Json.write(report.json()));
        assertEquals(false, json.get("met"));
        assertEquals(9L, json.get("seed"));
        assertEquals(14L, ((Map<?, ?>) json.get("repairs")).get("set_pulled_datagrams"));
        assertTrue(report.text().contains("14 out of co-roots' copies"), report.text());
        final Map<?, ?> row = (Map<?, ?>) ((List<?>) json.get("faults")).getFirst();
        assertEquals("evicted and replaced", row.get("expectation"));
        assertEquals(345L, ((Map<?, ?>) row.get("stall_ms")).get("subscriber 1"));
    }

    @Test
    void shouldComplainWhenMemoryOrDescriptorsGrow() {
        assertEquals(List.of(), new MemoryRow("a", BEFORE, BEFORE, false, false, 0).complaints());
        final long tolerance = MemoryRow.RESIDENT_TOLERANCE_BYTES + MemoryRow.SERVING_BYTES;
        final StreamLog.Memory after = new StreamLog.Memory(8 << 20, BEFORE.residentBytes() + tolerance + 1, 45);
        assertEquals(
                3,
                new MemoryRow("a", BEFORE, after, false, false, 0).complaints().size());
        assertEquals(
                2,
                new MemoryRow("a", BEFORE, after, true, false, 0).complaints().size());
        final StreamLog.Memory served =
                new StreamLog.Memory(BEFORE.heapBytes(), BEFORE.residentBytes() + tolerance, 45);
        assertEquals(
                2,
                new MemoryRow("a", BEFORE, served, false, false, 0).complaints().size());
        assertEquals(List.of(), new MemoryRow("a", BEFORE, served, true, false, 0).complaints());
        assertEquals(List.of(), new MemoryRow("a", BEFORE, served, false, true, 1).complaints());
    }
}
