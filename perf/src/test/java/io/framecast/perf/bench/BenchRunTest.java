package io.framecast.perf.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class BenchRunTest {
    private static final BenchSystem UDP = BenchSystem.framecast("udp");
    private static final List<BenchSystem> SYSTEMS = List.of(UDP, BenchSystem.FLOOR, BenchSystem.AERON);

    private final List<String> lines = new ArrayList<>();
    private final List<String> order = new ArrayList<>();

    @Test
    void shouldMeasureAllSystemsInEachRoundAndStartWithAnother() throws Exception {
        run(BenchScenario.THROUGHPUT, 3, (_, system) -> {
            order.add(system.name());
            return result(system, 1, 1);
        });
        assertEquals(
                List.of(
                        "framecast:udp",
                        "floor",
                        "aeron",
                        "floor",
                        "aeron",
                        "framecast:udp",
                        "aeron",
                        "framecast:udp",
                        "floor"),
                order);
        assertEquals(9, lines.size());
    }

    @Test
    void shouldCompareMediansOfGoodput() throws Exception {
        final Map<String, double[]> goodputs = Map.of(
                "framecast:udp",
                new double[] {100, 900, 800},
                "floor",
                new double[] {1000, 1, 2000},
                "aeron",
                new double[] {200, 100, 400});
        final List<BenchRow> rows = run(BenchScenario.THROUGHPUT, 3, (_, system) -> {
            order.add(system.name());
            final long round = order.stream().filter(system.name()::equals).count() - 1;
            return result(system, goodputs.get(system.name())[(int) round], 1);
        });
        assertEquals(0.8, rows.get(0).ratioToFloor());
        assertEquals(4, rows.get(0).ratioToAeron());
        assertTrue(Double.isNaN(rows.get(0).ratioToTcp()));
        assertEquals(1, rows.get(1).ratioToFloor());
        assertEquals(
                List.of("udp", "floor", "stock-aeron"),
                rows.stream().map(BenchRow::transport).toList());
    }

    @Test
    void shouldCompareLatenessWhereThatIsTheQuestion() throws Exception {
        final List<BenchRow> rows =
                run(BenchScenario.LATENCY, 1, (_, system) -> result(system, 60, system.equals(UDP) ? 300 : 200));
        assertEquals(1.5, rows.getFirst().ratioToFloor());
    }

    @Test
    void shouldGoOnWhenOneMeasurementFails() throws Exception {
        final List<BenchRow> rows = run(BenchScenario.THROUGHPUT, 2, (_, system) -> {
            order.add(system.name());
            if (system.equals(BenchSystem.AERON) && order.size() < 4) {
                throw new MeasurementFailedException("no such thing", true);
            }
            return result(system, 10, 1);
        });
        final BenchRow aeron = rows.get(2);
        assertEquals(List.of("no such thing"), aeron.failures());
        assertEquals(10, aeron.median(RoundResult::goodputMBps));
        assertTrue(
                lines.stream().anyMatch(line -> line.endsWith("stock-aeron: failed: no such thing")), lines::toString);
    }

    private List<BenchRow> run(final BenchScenario scenario, final int rounds, final BenchRun.Measuring measuring)
            throws InterruptedException {
        final BenchCase setting = new BenchCase(scenario, BenchNet.LOOPBACK, 1_000, 1, 1500, 0, true, 0);
        final BenchPlan plan = new BenchPlan(
                List.of(new BenchPlan.Part(setting, SYSTEMS)), rounds, 1, 1, 0, List.of(), Optional.empty());
        return new BenchRun(plan, lines::add).run(measuring);
    }

    private static RoundResult result(final BenchSystem system, final double goodputMBps, final double p99Us) {
        return new RoundResult(system.transport(), goodputMBps, 1, 1, p99Us, p99Us, p99Us, 0, 0, 0, "");
    }
}
