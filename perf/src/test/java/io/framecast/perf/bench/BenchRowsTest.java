package io.framecast.perf.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.perf.harness.BenchNet;
import io.framecast.perf.rivals.Bystander;
import io.framecast.perf.rivals.Protection;
import io.framecast.perf.table.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class BenchRowsTest {
    private static final BenchSystem UDP = BenchSystem.framecast("udp");

    private final List<BenchRow> rows = new ArrayList<>();

    @Test
    void shouldCompareLossWithItsOwnRowWithoutLoss() {
        add(UDP, setting(1, 0, true), 100, 1);
        add(UDP, setting(1, 0.01, true), 80, 1);
        add(UDP, setting(1, 0, false), 50, 1);
        add(UDP, setting(1, 0.01, false), 45, 1);
        final List<BenchRow> compared = BenchRows.compared(rows);
        assertTrue(Double.isNaN(compared.get(0).ratio("ratio_to_clean")));
        assertEquals(0.8, compared.get(1).ratio("ratio_to_clean"));
        assertEquals(0.9, compared.get(3).ratio("ratio_to_clean"));
    }

    @Test
    void shouldCompareProtectedStreamsWithPlainOnes() {
        add(UDP, setting(3, 0, true), 200, 1);
        add(BenchSystem.framecast("udp", Protection.AUTH), setting(3, 0, true), 190, 1);
        add(BenchSystem.TCP, setting(3, 0, true), 75, 60);
        final List<BenchRow> compared = BenchRows.compared(rows);
        assertTrue(Double.isNaN(compared.get(0).ratio("ratio_to_plain")));
        assertEquals(0.95, compared.get(1).ratio("ratio_to_plain"));
        assertEquals("framecast (udp, auth)", compared.get(1).label());
        assertTrue(Double.isNaN(compared.get(2).ratio("ratio_to_plain")));
    }

    @Test
    void shouldCompareReceiversWithTheFewest() {
        add(UDP, setting(1, 0, true), 150, 10);
        add(BenchSystem.TCP, setting(1, 0, true), 150, 20);
        add(UDP, setting(3, 0, true), 149, 11);
        add(BenchSystem.TCP, setting(3, 0, true), 75, 60);
        final List<BenchRow> compared = BenchRows.compared(rows);
        assertTrue(Double.isNaN(compared.get(0).ratio("goodput_ratio_to_fewest")));
        assertEquals(1.1, compared.get(2).ratio("source_cpu_ratio_to_fewest"), 1e-9);
        assertEquals(1, compared.get(2).ratio("source_wire_ratio_to_fewest"), 1e-9);
        assertEquals(0.5, compared.get(3).ratio("goodput_ratio_to_fewest"));
        assertEquals(3, compared.get(3).ratio("source_cpu_ratio_to_fewest"), 1e-9);
    }

    @Test
    void shouldCompareCpuWithTheRivalsOfTheSameCase() {
        add(UDP, setting(1, 0, true), 100, 5);
        add(BenchSystem.AERON, setting(1, 0, true), 100, 20);
        add(BenchSystem.AERON, setting(2, 0, true), 100, 1);
        final BenchRow row = BenchRows.compared(rows).getFirst();
        assertEquals(0.25, row.ratio("cpu_ratio_to_aeron"));
        assertTrue(Double.isNaN(row.ratio("cpu_ratio_to_floor")));
        assertEquals(1, row.ratio("ratio_to_aeron"));
    }

    @Test
    void shouldCompareBystandersWithNoneAndWithOneThatIsFastEnough() {
        final BenchCase alone = setting(2, 0, true);
        final Bystander slow = new Bystander("latest", Bystander.Pace.STOPPED);
        add(UDP, alone, 200, 1);
        add(UDP, alone.withBystander(slow.healthy()), 160, 1);
        add(UDP, alone.withBystander(slow), 190, 1);
        add(UDP, alone.withBystander(new Bystander("evict=1s", Bystander.Pace.STOPPED)), 100, 1);
        final List<BenchRow> compared = BenchRows.compared(rows);
        assertTrue(Double.isNaN(compared.get(0).ratio("ratio_to_alone")));
        assertEquals(0.8, compared.get(1).ratio("ratio_to_alone"));
        assertTrue(Double.isNaN(compared.get(1).ratio("ratio_to_healthy")));
        assertEquals(0.95, compared.get(2).ratio("ratio_to_alone"));
        assertEquals(1.1875, compared.get(2).ratio("ratio_to_healthy"));
        assertEquals(0.5, compared.get(3).ratio("ratio_to_alone"));
        assertTrue(Double.isNaN(compared.get(3).ratio("ratio_to_healthy")));
    }

    private void add(final BenchSystem system, final BenchCase setting, final double goodputMBps, final double cpu) {
        final RoundResult round = new RoundResult(
                system.transport(),
                goodputMBps,
                1,
                0,
                cpu,
                cpu,
                cpu,
                0,
                1,
                2,
                3,
                0.01,
                0.03,
                new RoundResult.OnHost("", Double.NaN, Double.NaN, Double.NaN, Double.NaN),
                new StartWindows(Double.NaN, List.of()));
        rows.add(new BenchRow(setting, system, List.of(Outcome.of(round)), Double.NaN, Map.of()));
    }

    private static BenchCase setting(final int receivers, final double loss, final boolean offload) {
        return new BenchCase(BenchScenario.LOSS, BenchNet.BRIDGE, 1_000, receivers, 1500, loss, offload, 0);
    }
}
