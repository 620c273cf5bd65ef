package io.framecast.perf.streaming;

import io.framecast.api.error.ConfigException;
import io.framecast.perf.harness.MeasurementFailedException;
import io.framecast.perf.harness.MeasurementFailedException.Reason;
import io.framecast.perf.harness.Networks;
import io.framecast.perf.harness.Pool;
import io.framecast.perf.harness.Pools;
import io.framecast.perf.harness.Records;
import io.framecast.perf.harness.Rounds;
import io.framecast.perf.harness.WarmUp;
import io.framecast.perf.table.Outcome;
import io.framecast.samples.network.FreePorts;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

/// Measures the contenders in the rounds of the harness.
public final class StreamingRun implements Rounds.Measuring<StreamingCase, Contender, StreamingResult>, AutoCloseable {
    /// Most receivers that have a port each in a tree.
    public static final int RECEIVERS_MAX = 32;

    private static final double NS_PER_SECOND = 1e9;
    private static final StreamingPlan.Times WARM_UP = new StreamingPlan.Times(1, 0, 0.2, 0.2, 0.8);
    private static final double STUCK_SECONDS = 180;
    // Each stream that stands still costs that long.
    private static final int STUCK_MAX = 2;

    private final StreamingPlan plan;
    private final Consumer<String> console;
    private final Rounds<StreamingCase, Contender, StreamingResult> rounds = new Rounds<>(this);
    private final Pools<Contender> pools = new Pools<>();
    private final Networks networks = new Networks();
    private final Map<Contender, Integer> stuck = new HashMap<>();
    private final FreePorts ports = new FreePorts(RandomGenerator.getDefault());

    public StreamingRun(final StreamingPlan plan, final Consumer<String> console) {
        this.plan = plan;
        this.console = console;
    }

    /// Runs everything.
    List<StreamingRow> run(final Consumer<ModelParameters> onParameters) throws InterruptedException {
        rounds.warmUp(plan.contenders());
        final ModelParameters parameters = new ModelProbe(plan, this, console).measure();
        onParameters.accept(parameters);
        final var results = rounds.run(plan.times().rounds(), plan.cases());
        final List<StreamingRow> rows = new ArrayList<>();
        results.forEach((setting, contenders) -> contenders.forEach((contender, measured) -> {
            final StreamingRow peak = rows.stream()
                    .filter(row -> !setting.isPeak()
                            && row.setting().equals(setting.alone())
                            && row.contender().equals(contender))
                    .findFirst()
                    .orElse(null);
            final StreamingRow bare = new StreamingRow(contender, setting, plan, measured, peak, null);
            final Prediction prediction = Prediction.of(bare, parameters);
            rows.add(new StreamingRow(contender, setting, plan, measured, peak, prediction));
        }));
        return rows;
    }

    @Override
    public void warmUp(final Contender contender) throws InterruptedException, MeasurementFailedException {
        warmUp(contender, contender.text(), plan.with(WARM_UP));
    }

    /// The same with frames in host memory: its code is another.
    public void warmUpOnHost(final Contender contender) throws InterruptedException, MeasurementFailedException {
        warmUp(contender, contender.text() + " on host", plan.onHost(plan.frameBytes(), WARM_UP));
    }

    private void warmUp(final Contender contender, final String name, final StreamingPlan changed)
            throws InterruptedException, MeasurementFailedException {
        final StreamingCase setting = new StreamingCase(plan.subscribersMax(), Direction.NONE);
        final long endNs = System.nanoTime() + (long) (plan.times().warmUpMaxSeconds() * NS_PER_SECOND);
        new WarmUp(System::nanoTime, console).run(name, endNs, () -> {
            final StreamingResult result = measure(setting, contender, changed);
            return new WarmUp.Round(result.broadcastMBps(), result.compilingShare());
        });
    }

    @Override
    public StreamingResult measure(final StreamingCase setting, final Contender contender)
            throws InterruptedException, MeasurementFailedException {
        return measure(setting, contender, plan);
    }

    /// Time of a frame alone to the receiver that has it last, in µs.
    ///
    /// @param changed the plan of this stream
    /// @throws MeasurementFailedException when a process failed; its contender's processes are fresh then
    public double loneUs(final StreamingCase setting, final Contender contender, final StreamingPlan changed)
            throws InterruptedException, MeasurementFailedException {
        return measure(setting, contender, changed).latencyUs();
    }

    /// Has one stream carried.
    ///
    /// @param changed the plan of this stream
    /// @throws MeasurementFailedException when a process failed; its contender's processes are fresh then
    StreamingResult measure(final StreamingCase setting, final Contender contender, final StreamingPlan changed)
            throws InterruptedException, MeasurementFailedException {
        if (stuck.getOrDefault(contender, 0) >= STUCK_MAX) {
            throw new MeasurementFailedException(
                    "not tried: it stood still " + STUCK_MAX + " times before", Reason.FAILED);
        }
        final StreamingSpec spec = new StreamingSpec(changed, contender, setting, ports.range(StreamingSpec.PORTS), 0);
        final StreamingPlan.Times times = changed.times();
        final double most = STUCK_SECONDS + 10 * (times.leadSeconds() + times.loneSeconds() + times.seconds());
        final List<StreamingSpec> ofReceivers = IntStream.range(0, setting.subscribers())
                .mapToObj(spec::ofReceiver)
                .toList();
        try {
            set(setting);
            final Pool.Reports reports = pools.run(
                    contender,
                    () -> start(contender),
                    pool -> pool.run(spec, ofReceivers, 0, System.nanoTime() + (long) (most * NS_PER_SECOND)));
            return StreamingResult.of(
                    changed,
                    setting.direction(),
                    Records.read(SentReport.class, reports.source()),
                    reports.receivers(ReceivedReport.class),
                    setting.impairment().hasSlow());
        } catch (final MeasurementFailedException e) {
            if (e.reason() == Reason.STUCK) {
                stuck.merge(contender, 1, Integer::sum);
            }
            rounds.cool(contender);
            throw e;
        }
    }

    private Pool start(final Contender contender) {
        return Pool.start(
                contender.text(),
                plan.subscribersMax(),
                StreamingRole.class,
                List.of(),
                networks.get(plan.links(), plan.subscribersMax())::host,
                console,
                _ -> {});
    }

    // Links that lose, and multicast to no more than those that receive.
    private void set(final StreamingCase setting) {
        final double loss = setting.impairment().loss();
        try {
            networks.get(plan.links(), plan.subscribersMax()).set(loss, loss > 0, setting.subscribers());
        } catch (final IOException e) {
            throw new ConfigException("--net: " + e.getMessage(), e);
        }
    }

    @Override
    public boolean isFramecast(final Contender contender) {
        return contender.isFramecast();
    }

    @Override
    public void onOutcome(
            final int round,
            final StreamingCase setting,
            final Contender contender,
            final Outcome<StreamingResult> outcome) {
        console.accept("round " + (round + 1) + ", " + contender.text() + ", " + setting.text() + ": "
                + outcome.result().map(StreamingResult::text).orElse("failed: " + outcome.failure()));
    }

    /// Ends the processes of a contender.
    public void end(final Contender contender) {
        pools.end(contender);
    }

    /// Whether Framecast delivered frames that differ from those sent.
    public boolean haveFramesDiffered() {
        return rounds.haveFramesDiffered();
    }

    /// Any thread.
    @Override
    public void close() {
        pools.close();
        networks.close();
    }
}
