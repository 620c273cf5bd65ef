package io.framecast.perf.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/// Measures all systems of all cases, round by round, so that what else the machine does hits all of them alike.
final class BenchRun {
    private final BenchPlan plan;
    private final Consumer<String> console;
    private final Map<BenchPlan.Part, Map<BenchSystem, List<RoundResult>>> results = new LinkedHashMap<>();
    private boolean framesDiffered;

    BenchRun(final BenchPlan plan, final Consumer<String> console) {
        this.plan = plan;
        this.console = console;
    }

    /// Measures one system in one case, once.
    interface Measuring {
        RoundResult run(BenchCase setting, BenchSystem system) throws InterruptedException, MeasurementFailedException;
    }

    /// @return the rows, systems of a case one behind the other
    List<BenchRow> run(final Measuring measurement) throws InterruptedException {
        for (int round = 0; round < plan.rounds(); round++) {
            for (final BenchPlan.Part part : plan.parts()) {
                // Each system comes first in some round: whatever the one before leaves behind, heat or cold caches.
                final int systems = part.systems().size();
                for (int i = 0; i < systems; i++) {
                    final BenchSystem system = part.systems().get((i + round) % systems);
                    final RoundResult result = measure(measurement, part.setting(), system);
                    results.computeIfAbsent(part, _ -> new LinkedHashMap<>())
                            .computeIfAbsent(system, _ -> new ArrayList<>())
                            .add(result);
                    console.accept(line(round, part.setting(), system, result));
                }
            }
        }
        return rows();
    }

    private RoundResult measure(final Measuring measurement, final BenchCase setting, final BenchSystem system)
            throws InterruptedException {
        try {
            return measurement.run(setting, system);
        } catch (final MeasurementFailedException e) {
            framesDiffered |= system.isFramecast() && e.framesDiffer();
            return RoundResult.failed(system.transport(), String.valueOf(e.getMessage()));
        }
    }

    private String line(final int round, final BenchCase setting, final BenchSystem system, final RoundResult result) {
        final String head = "round " + (round + 1) + " of " + plan.rounds() + ", " + setting.text() + ", "
                + (result.hasFailed() ? system.transport() : result.transport()) + ": ";
        if (result.hasFailed()) {
            return head + "failed: " + result.failure();
        }
        return head
                + String.format(
                        Locale.ROOT,
                        "%.0f MB/s, p50 %.2f ms, p99 %.2f ms, %.2f CPU s/GB%s",
                        result.goodputMBps(),
                        result.p50Us() / 1e3,
                        result.p99Us() / 1e3,
                        result.cpuSecondsPerGB(),
                        result.lostFrames() == 0 ? "" : ", " + result.lostFrames() + " frames lost");
    }

    private List<BenchRow> rows() {
        final List<BenchRow> rows = new ArrayList<>();
        results.forEach((part, systems) -> {
            final Map<BenchSystem, BenchRow> found = new LinkedHashMap<>();
            part.systems()
                    .forEach(system -> found.put(
                            system, BenchRow.of(part.setting(), system, systems.getOrDefault(system, List.of()))));
            found.forEach((_, row) -> rows.add(row.withRatios(
                    ratio(row, found.get(BenchSystem.FLOOR)),
                    ratio(row, found.get(BenchSystem.AERON)),
                    ratio(row, found.get(BenchSystem.TCP)))));
        });
        return rows;
    }

    private static double ratio(final BenchRow row, final @org.jspecify.annotations.Nullable BenchRow by) {
        return by == null
                ? Double.NaN
                : Statistics.ratio(row.compared().median(), by.compared().median());
    }

    /// Whether Framecast delivered frames that are not what was published.
    boolean haveFramesDiffered() {
        return framesDiffered;
    }
}
