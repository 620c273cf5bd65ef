package io.framecast.perf.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.perf.harness.BenchNet;
import io.framecast.perf.rivals.ReceiverReport;
import io.framecast.perf.rivals.ReceiverReport.Window;
import io.framecast.perf.table.Outcome;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class StartTableTest {
    private static final long SECOND_NS = 1_000_000_000;
    private static final BenchCase SETTING =
            new BenchCase(BenchScenario.THROUGHPUT, BenchNet.BRIDGE, 1 << 20, 2, 9000, 0, true, 0);

    // Window i brings i MB, at the slower receiver half of that.
    private static ReceiverReport receiver(final long placedNs, final int windows, final int share) {
        return new ReceiverReport(
                1,
                1,
                0,
                0,
                1,
                1,
                1,
                "",
                placedNs,
                IntStream.range(0, windows)
                        .mapToObj(i -> new Window(i * 1_000_000L / share, i * 1_000L * share, 10_000_000))
                        .toList(),
                new ReceiverReport.Footprint("", 0, 0));
    }

    private static StartWindows start() {
        return StartWindows.of(List.of(receiver(3 * SECOND_NS, 40, 1), receiver(2 * SECOND_NS, 41, 2)), SECOND_NS);
    }

    private static BenchRow row(final BenchSystem system) {
        final double none = Double.NaN;
        final RoundResult round = new RoundResult(
                system.transport(),
                none,
                none,
                0,
                none,
                none,
                none,
                none,
                none,
                none,
                none,
                none,
                none,
                new RoundResult.OnHost("", Double.NaN, Double.NaN, Double.NaN, Double.NaN),
                start());
        return new BenchRow(SETTING, system, Collections.nCopies(3, Outcome.of(round)), none, Map.of());
    }

    @Test
    void shouldFollowTheSlowestReceiver() {
        final StartWindows start = start();
        // The other one was later.
        assertEquals(2, start.firstFrameSeconds());
        assertEquals(40, start.windows().size());
        // Windows 7 and 8 bring 3.5 and 4 MB to the slower one, each in a quarter of a second.
        assertEquals((14 + 16) / 2.0, start.goodputAfter(2));
        assertEquals(new StartWindows.Window(16, 16, 0.02), start.windows().get(8));
        // The last ten: 30 to 39.
        assertEquals(34.5 / 2 * 4, start.steadyMBps());
    }

    @Test
    void shouldSayNothingOfMomentsThatWereNotMeasured() {
        assertTrue(Double.isNaN(start().goodputAfter(10)));
        assertTrue(Double.isNaN(new StartWindows(Double.NaN, List.of()).goodputAfter(2)));
    }

    @Test
    void shouldCompareWithSteadyGoodputAndWithTheFloor() {
        final List<BenchRow> rows =
                BenchRows.compared(List.of(row(BenchSystem.framecast("udp")), row(BenchSystem.FLOOR)));
        final Map<String, ?> json = StartTable.TABLE.json(rows.getFirst());
        assertEquals("framecast (udp)", json.get("system"));
        assertEquals(9000, json.get("mtu"));
        assertEquals(true, json.get("offload"));
        assertEquals(2.0, json.get("first_frame_s"));
        assertEquals(15.0, json.get("goodput_after_2s_MBps"));
        assertEquals(0.217391, json.get("share_after_2s"));
        assertEquals(0.217391, json.get("floor_share_after_2s"));
        assertEquals(0.16, json.get("compile_s_after_2s"));
        assertEquals(40, ((List<?>) json.get("windows")).size());
        assertEquals(1, StartTable.figures(rows).size());
    }

    @Test
    void shouldStandWithoutAnyResult() {
        final BenchRow row = new BenchRow(
                SETTING, BenchSystem.framecast("udp"), List.of(Outcome.failed("no network")), Double.NaN, Map.of());
        assertEquals(List.of("no network"), row.failures());
        assertTrue(StartTable.TABLE.text(List.of(row)).contains("1 failed"));
    }
}
