package io.framecast.perf.bench;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/// Measures all systems of all cases: group by group, first all systems until they are warm, then round by round, so
/// that what else the machine does hits all of them alike.
final class BenchRun {
    private final BenchPlan plan;
    private final Consumer<String> console;
    private final WarmUp warmUp;
    private final Map<BenchPlan.Part, Map<BenchSystem, List<RoundResult>>> results = new LinkedHashMap<>();
    private final Map<BenchPlan.Part, Map<BenchSystem, Double>> warmUpSeconds = new HashMap<>();
    private final Set<BenchSystem> warm = new HashSet<>();
    private final Map<BenchSystem, MeasurementFailedException> failedWarmUps = new HashMap<>();
    private boolean framesDiffered;

    BenchRun(final BenchPlan plan, final Consumer<String> console) {
        this.plan = plan;
        this.console = console;
        warmUp = new WarmUp(plan.times(), System::nanoTime, console);
    }

    /// What measures.
    interface Measuring {
        /// The measurements that follow are of this group, by fresh processes.
        default void begin(final BenchGroup group) {}

        /// Measures one system in one case, once. After a failure its processes are fresh.
        RoundResult run(BenchCase setting, BenchSystem system, BenchTimes times)
                throws InterruptedException, MeasurementFailedException;
    }

    /// @return the rows, systems of a case one behind the other
    List<BenchRow> run(final Measuring measurement) throws InterruptedException {
        for (final BenchGroup group : plan.groups()) {
            measurement.begin(group);
            warm.clear();
            failedWarmUps.clear();
            for (final BenchSystem system : group.systems()) {
                try {
                    warmUp(measurement, group, system);
                } catch (final MeasurementFailedException e) {
                    failedWarmUps.put(system, e);
                }
            }
            for (int round = 0; round < plan.rounds(); round++) {
                round(measurement, group, round);
            }
        }
        return rows();
    }

    private void round(final Measuring measurement, final BenchGroup group, final int round)
            throws InterruptedException {
        for (final BenchPlan.Part part : group.parts()) {
            // Each system comes first in some round: whatever the one before leaves behind, heat or cold caches.
            final int systems = part.systems().size();
            for (int i = 0; i < systems; i++) {
                final BenchSystem system = part.systems().get((i + round) % systems);
                final RoundResult result = measure(measurement, group, part.setting(), system);
                results.computeIfAbsent(part, _ -> new LinkedHashMap<>())
                        .computeIfAbsent(system, _ -> new ArrayList<>())
                        .add(result);
                console.accept(line(round, part.setting(), system, result));
            }
        }
    }

    private RoundResult measure(
            final Measuring measurement, final BenchGroup group, final BenchCase setting, final BenchSystem system)
            throws InterruptedException {
        try {
            final MeasurementFailedException failed = failedWarmUps.remove(system);
            if (failed != null) {
                throw failed;
            }
            if (!warm.contains(system)) {
                warmUp(measurement, group, system);
            }
            return measurement.run(setting, system, plan.times());
        } catch (final MeasurementFailedException e) {
            warm.remove(system);
            framesDiffered |= system.isFramecast() && e.framesDiffer();
            return RoundResult.failed(system.transport(), String.valueOf(e.getMessage()));
        }
    }

    private void warmUp(final Measuring measurement, final BenchGroup group, final BenchSystem system)
            throws InterruptedException, MeasurementFailedException {
        final double seconds = warmUp.run(
                system.transport(), group.warmUps(system), (setting, times) -> measurement.run(setting, system, times));
        warm.add(system);
        group.parts()
                .forEach(part -> warmUpSeconds
                        .computeIfAbsent(part, _ -> new HashMap<>())
                        .merge(system, seconds, Double::sum));
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
        final BenchRows rows = new BenchRows();
        results.forEach((part, systems) -> {
            final Map<BenchSystem, Double> seconds = warmUpSeconds.getOrDefault(part, Map.of());
            part.systems()
                    .forEach(system -> rows.add(
                            system,
                            BenchRow.of(part.setting(), system, systems.getOrDefault(system, List.of()))
                                    .withWarmUp(seconds.getOrDefault(system, Double.NaN))));
        });
        return rows.compared();
    }

    /// Whether Framecast delivered frames that are not what was published.
    boolean haveFramesDiffered() {
        return framesDiffered;
    }
}
