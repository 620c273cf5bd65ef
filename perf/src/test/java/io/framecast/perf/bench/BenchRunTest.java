package io.framecast.perf.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.perf.harness.BenchNet;
import io.framecast.perf.harness.MeasurementFailedException;
import io.framecast.perf.harness.MeasurementFailedException.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class BenchRunTest {
    private static final BenchSystem UDP = BenchSystem.framecast("udp");
    private static final BenchTimes TIMES = new BenchTimes(3, 1, 1);
    private static final List<BenchSystem> SYSTEMS = List.of(UDP, BenchSystem.FLOOR, BenchSystem.AERON);

    private final List<String> lines = new ArrayList<>();
    private final List<String> order = new ArrayList<>();
    private final List<String> warmUps = new ArrayList<>();

    /// A round that counts.
    private interface Measured {
        RoundResult run(BenchSystem system) throws MeasurementFailedException;
    }

    @Test
    void shouldMeasureAllSystemsInEachRoundAndStartWithAnother() throws Exception {
        run(BenchScenario.THROUGHPUT, 3, system -> {
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
        assertEquals(3 + 9, lines.size());
        assertEquals(
                List.of(
                        "framecast:udp",
                        "framecast:udp",
                        "framecast:udp",
                        "floor",
                        "floor",
                        "floor",
                        "aeron",
                        "aeron",
                        "aeron"),
                warmUps);
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
        final List<BenchRow> rows = run(BenchScenario.THROUGHPUT, 3, system -> {
            order.add(system.name());
            final long round = order.stream().filter(system.name()::equals).count() - 1;
            return result(system, goodputs.get(system.name())[(int) round], 1);
        });
        assertEquals(0.8, rows.get(0).ratio("ratio_to_floor"));
        assertEquals(4, rows.get(0).ratio("ratio_to_aeron"));
        assertTrue(Double.isNaN(rows.get(0).ratio("ratio_to_tcp")));
        assertEquals(1, rows.get(1).ratio("ratio_to_floor"));
        assertEquals(
                List.of("udp", "floor", "stock-aeron"),
                rows.stream().map(BenchRow::transport).toList());
        assertEquals("framecast (udp)", rows.get(0).label());
        assertEquals("floor", rows.get(1).label());
    }

    @Test
    void shouldCompareLatenessWhereThatIsTheQuestion() throws Exception {
        final List<BenchRow> rows =
                run(BenchScenario.LATENCY, 1, system -> result(system, 60, system.equals(UDP) ? 300 : 200));
        assertEquals(1.5, rows.getFirst().ratio("ratio_to_floor"));
    }

    @Test
    void shouldGoOnWhenOneMeasurementFails() throws Exception {
        final List<BenchRow> rows = run(BenchScenario.THROUGHPUT, 2, system -> {
            order.add(system.name());
            if (system.equals(BenchSystem.AERON) && order.size() < 4) {
                throw new MeasurementFailedException("no such thing", Reason.FRAMES_DIFFER);
            }
            return result(system, 10, 1);
        });
        final BenchRow aeron = rows.get(2);
        assertEquals(List.of("no such thing"), aeron.failures());
        assertEquals(10, aeron.median(RoundResult::goodputMBps));
        // Its processes were started anew, and had to be warmed up again.
        assertEquals(6, warmUps.stream().filter("aeron"::equals).count());
        assertTrue(
                lines.stream().anyMatch(line -> line.endsWith("stock-aeron: failed: no such thing")), lines::toString);
    }

    @Test
    void shouldFailOneRoundWhenTheWarmUpFails() throws Exception {
        final BenchCase setting =
                new BenchCase(BenchScenario.THROUGHPUT, BenchNet.LOOPBACK, 1_000, 1, 1500, 0, true, 0);
        final BenchPlan plan =
                new BenchPlan(List.of(new BenchPlan.Part(setting, SYSTEMS)), 2, TIMES, 0, List.of(), Optional.empty());
        final List<BenchRow> rows = new BenchRun(plan, lines::add, System::nanoTime, (_, system, times) -> {
                    if (!times.equals(TIMES) && system.equals(UDP)) {
                        warmUps.add(system.name());
                        if (warmUps.size() == 1) {
                            throw new MeasurementFailedException("not yet", Reason.FAILED);
                        }
                    }
                    return result(system, 7, 1);
                })
                .run();
        assertEquals(List.of("not yet"), rows.getFirst().failures());
        assertEquals(7, rows.getFirst().median(RoundResult::goodputMBps));
        assertEquals(1 + 3, warmUps.size());
        assertEquals(List.of(), rows.get(1).failures());
    }

    @Test
    void shouldServeCasesThatDifferInLossAndReceiversByTheSameProcesses() throws Exception {
        final List<BenchPlan.Part> parts = new ArrayList<>();
        for (final int bytes : List.of(1_000, 2_000)) {
            for (final double loss : List.of(0.0, 0.01)) {
                for (final int receivers : List.of(1, 3)) {
                    parts.add(new BenchPlan.Part(
                            new BenchCase(BenchScenario.LOSS, BenchNet.BRIDGE, bytes, receivers, 1500, loss, true, 60),
                            List.of(UDP)));
                }
            }
        }
        final List<BenchGroup> groups = new ArrayList<>();
        final List<BenchCase> settings = new ArrayList<>();
        final BenchPlan plan = new BenchPlan(parts, 1, TIMES, 0, List.of(), Optional.empty());
        new BenchRun(plan, lines::add, System::nanoTime, new BenchRun.Measuring() {
                    @Override
                    public void begin(final BenchGroup group) {
                        groups.add(group);
                    }

                    @Override
                    public RoundResult run(final BenchCase setting, final BenchSystem system, final BenchTimes times) {
                        if (!times.equals(TIMES)) {
                            settings.add(setting);
                        }
                        return result(system, 1, 1);
                    }
                })
                .run();
        assertEquals(2, groups.size());
        assertEquals(4, groups.getFirst().parts().size());
        assertEquals(3, groups.getFirst().receiversMax());
        // At full rate, to all receivers, with each loss.
        assertTrue(settings.stream().allMatch(setting -> setting.framesPerSecond() == 0 && setting.receivers() == 3));
        assertEquals(
                List.of(0.0, 0.01),
                settings.stream().map(BenchCase::loss).distinct().toList());
    }

    @Test
    void shouldShareTheTimeOfWarmUpsAmongCases() throws Exception {
        final List<BenchPlan.Part> parts = new ArrayList<>();
        for (final double loss : List.of(0.0, 0.01)) {
            parts.add(new BenchPlan.Part(
                    new BenchCase(BenchScenario.LOSS, BenchNet.LOOPBACK, 1_000, 1, 1500, loss, true, 0), List.of(UDP)));
        }
        final BenchPlan plan = new BenchPlan(parts, 1, new BenchTimes(8, 0.4, 2), 0, List.of(), Optional.empty());
        final long[] nowNs = new long[1];
        final double[] goodput = {1};
        new BenchRun(plan, lines::add, () -> nowNs[0], (_, system, times) -> {
                    if (!times.equals(plan.times())) {
                        warmUps.add(system.name());
                        nowNs[0] += 1_500_000_000L;
                        goodput[0] *= 2;
                    }
                    return result(system, goodput[0], 1);
                })
                .run();
        assertEquals(6, warmUps.size());
        assertTrue(lines.get(1).contains("1 % loss"), lines::toString);
    }

    private List<BenchRow> run(final BenchScenario scenario, final int rounds, final Measured measured)
            throws InterruptedException {
        final BenchCase setting = new BenchCase(scenario, BenchNet.LOOPBACK, 1_000, 1, 1500, 0, true, 0);
        final BenchPlan plan = new BenchPlan(
                List.of(new BenchPlan.Part(setting, SYSTEMS)), rounds, TIMES, 0, List.of(), Optional.empty());
        return new BenchRun(plan, lines::add, System::nanoTime, (_, system, times) -> {
                    if (times.equals(TIMES)) {
                        return measured.run(system);
                    }
                    warmUps.add(system.name());
                    return result(system, 1, 1);
                })
                .run();
    }

    private static RoundResult result(final BenchSystem system, final double goodputMBps, final double p99Us) {
        return new RoundResult(
                system.transport(),
                goodputMBps,
                1,
                0,
                1,
                1,
                1,
                0,
                p99Us,
                p99Us,
                p99Us,
                0,
                0,
                new RoundResult.OnHost("", Double.NaN, Double.NaN, Double.NaN, Double.NaN),
                new StartWindows(Double.NaN, List.of()));
    }
}
