package io.framecast.perf.bench;

import io.framecast.perf.harness.MeasurementFailedException;
import io.framecast.perf.harness.Rounds;
import io.framecast.perf.harness.WarmUp;
import io.framecast.perf.table.Outcome;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/// Measures all systems of all cases, group by group, in the rounds of the harness.
final class BenchRun implements Rounds.Measuring<BenchCase, BenchSystem, RoundResult> {
    private static final double NS_PER_SECOND = 1e9;

    private final BenchPlan plan;
    private final Consumer<String> console;
    private final LongSupplier clockNs;
    private final Measuring measuring;
    private final Rounds<BenchCase, BenchSystem, RoundResult> rounds = new Rounds<>(this);
    private final Map<BenchSystem, Double> warmUpSeconds = new HashMap<>();
    private BenchGroup group = new BenchGroup(List.of());

    BenchRun(
            final BenchPlan plan,
            final Consumer<String> console,
            final LongSupplier clockNs,
            final Measuring measuring) {
        this.plan = plan;
        this.console = console;
        this.clockNs = clockNs;
        this.measuring = measuring;
    }

    /// Measures.
    interface Measuring {
        /// The measurements that follow are of this group, by fresh processes.
        default void begin(final BenchGroup group) {}

        /// Measures one system in one case, once. After a failure its processes are fresh.
        RoundResult run(BenchCase setting, BenchSystem system, BenchTimes times)
                throws InterruptedException, MeasurementFailedException;
    }

    /// @return the rows, systems of a case one behind the other
    List<BenchRow> run() throws InterruptedException {
        final List<BenchRow> rows = new ArrayList<>();
        for (final BenchGroup next : plan.groups()) {
            group = next;
            measuring.begin(group);
            warmUpSeconds.clear();
            rounds.warmUp(group.systems());
            final Map<BenchCase, List<BenchSystem>> cases = new LinkedHashMap<>();
            group.parts().forEach(part -> cases.put(part.setting(), part.systems()));
            rounds.run(plan.rounds(), cases)
                    .forEach((setting, systems) -> systems.forEach((system, results) -> {
                        final double seconds = warmUpSeconds.getOrDefault(system, Double.NaN);
                        rows.add(new BenchRow(setting, system, results, seconds, Map.of()));
                    }));
        }
        return BenchRows.compared(rows);
    }

    // The cases share the time.
    @Override
    public void warmUp(final BenchSystem system) throws InterruptedException, MeasurementFailedException {
        if (plan.times().areFromStart()) {
            // It is the warm-up that is measured.
            return;
        }
        final long beginNs = clockNs.getAsLong();
        final List<BenchCase> settings = group.warmUps(system);
        final double each = plan.times().warmUpMaxSeconds(group.receiversMax()) / settings.size();
        for (int i = 0; i < settings.size(); i++) {
            final BenchCase setting = settings.get(i);
            final long endNs = beginNs + (long) (NS_PER_SECOND * each * (i + 1));
            new WarmUp(clockNs, console).run(setting.text() + ", " + system.transport(), endNs, () -> {
                final RoundResult result =
                        measuring.run(setting, system, plan.times().ofWarmUp());
                return new WarmUp.Round(result.goodputMBps(), result.compilingShare());
            });
        }
        warmUpSeconds.merge(system, (clockNs.getAsLong() - beginNs) / NS_PER_SECOND, Double::sum);
    }

    @Override
    public RoundResult measure(final BenchCase setting, final BenchSystem system)
            throws InterruptedException, MeasurementFailedException {
        return measuring.run(setting, system, plan.times());
    }

    @Override
    public boolean isFramecast(final BenchSystem system) {
        return system.isFramecast();
    }

    @Override
    public void onOutcome(
            final int round, final BenchCase setting, final BenchSystem system, final Outcome<RoundResult> outcome) {
        final String transport = outcome.result().map(RoundResult::transport).orElse(system.transport());
        console.accept("round " + (round + 1) + " of " + plan.rounds() + ", " + setting.text() + ", "
                + system.label(transport) + ": "
                + outcome.result().map(this::text).orElse("failed: " + outcome.failure()));
    }

    private String text(final RoundResult result) {
        return plan.times().areFromStart() ? result.start().text() : result.text();
    }

    /// Whether Framecast delivered frames that differ from those published.
    boolean haveFramesDiffered() {
        return rounds.haveFramesDiffered();
    }
}
