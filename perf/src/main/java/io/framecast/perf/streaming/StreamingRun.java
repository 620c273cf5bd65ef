package io.framecast.perf.streaming;

import io.framecast.perf.harness.MeasurementFailedException;
import io.framecast.perf.harness.MeasurementFailedException.Reason;
import io.framecast.perf.harness.Network;
import io.framecast.perf.harness.Pool;
import io.framecast.perf.harness.Pools;
import io.framecast.perf.harness.Records;
import io.framecast.perf.harness.Rounds;
import io.framecast.perf.harness.WarmUp;
import io.framecast.perf.rivals.StreamSpec;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

/// Measures the contenders in the rounds of the harness.
final class StreamingRun implements Rounds.Measuring<StreamingCase, Contender, StreamingResult>, AutoCloseable {
    /// Most receivers that have a port each in a tree.
    static final int RECEIVERS_MAX = 12;

    private static final String GROUP = "224.20.30.45";
    private static final String ADDRESS = "127.0.0.1";
    private static final int MTU_BYTES = 1500;
    // Each stream has ports of its own, for those before may still get late datagrams. Systems give out
    // higher ones.
    private static final int PORT_FIRST = 21_000;
    private static final int PORTS_PER_STREAM = 16;
    private static final int STREAMS = 600;
    private static final double NS_PER_SECOND = 1e9;
    private static final StreamingPlan.Times WARM_UP = new StreamingPlan.Times(1, 0, 0.2, 0.2, 0.8);
    private static final double STUCK_SECONDS = 60;
    // Each stream that stands still costs that long.
    private static final int STUCK_MAX = 2;

    private final StreamingPlan plan;
    private final Consumer<String> console;
    private final Rounds<StreamingCase, Contender, StreamingResult> rounds = new Rounds<>(this);
    private final Pools<Contender> pools = new Pools<>();
    private final Map<Contender, Integer> stuck = new HashMap<>();
    private int stream = RandomGenerator.getDefault().nextInt(STREAMS);
    private boolean framesDiffered;

    StreamingRun(final StreamingPlan plan, final Consumer<String> console) {
        this.plan = plan;
        this.console = console;
    }

    /// How one stream differs from the plan.
    ///
    /// @param device instead of the plan's; empty for those
    record Variant(int frameBytes, String device, StreamingPlan.Times times) {}

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
        warmUp(contender, "");
    }

    /// The same on a device of its own: its code is another.
    ///
    /// @param device instead of the plan's; empty for those
    void warmUp(final Contender contender, final String device)
            throws InterruptedException, MeasurementFailedException {
        new WarmUp(System::nanoTime, console)
                .run(
                        contender.text() + (device.isEmpty() ? "" : " on " + device),
                        System.nanoTime() + ns(plan.times().warmUpMaxSeconds()),
                        () -> {
                            final StreamingResult result = measure(
                                    new StreamingCase(plan.subscribersMax(), Direction.NONE),
                                    contender,
                                    new Variant(plan.frameBytes(), device, WARM_UP));
                            return new WarmUp.Round(result.broadcastMBps(), result.compilingShare());
                        });
    }

    @Override
    public StreamingResult measure(final StreamingCase setting, final Contender contender)
            throws InterruptedException, MeasurementFailedException {
        return measure(setting, contender, new Variant(plan.frameBytes(), "", plan.times()));
    }

    /// Has one stream carried.
    ///
    /// @throws MeasurementFailedException when a process failed; its contender's processes are fresh then
    StreamingResult measure(final StreamingCase setting, final Contender contender, final Variant variant)
            throws InterruptedException, MeasurementFailedException {
        if (stuck.getOrDefault(contender, 0) >= STUCK_MAX) {
            throw new MeasurementFailedException(
                    "not tried: it stood still " + STUCK_MAX + " times before", Reason.FAILED);
        }
        final StreamingSpec spec = spec(setting, contender, variant);
        final StreamingPlan.Times times = variant.times;
        final long endNs = System.nanoTime()
                + ns(STUCK_SECONDS + 10 * (times.leadSeconds() + times.loneSeconds() + times.seconds()));
        final List<StreamingSpec> ofReceivers = IntStream.range(0, setting.subscribers())
                .mapToObj(spec::ofReceiver)
                .toList();
        try {
            final Pool.Reports reports =
                    pools.get(contender, () -> start(contender)).run(spec, ofReceivers, 0, endNs);
            return StreamingResult.of(
                    setting.direction(),
                    Records.read(SentReport.class, reports.source()),
                    reports.receivers().stream()
                            .map(report -> Records.read(ReceivedReport.class, report))
                            .toList());
        } catch (final MeasurementFailedException e) {
            pools.requireGoing();
            if (e.reason() == Reason.STUCK) {
                stuck.merge(contender, 1, Integer::sum);
            }
            pools.end(contender);
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
                Network.LOOPBACK::host,
                console,
                _ -> {});
    }

    private StreamingSpec spec(final StreamingCase setting, final Contender contender, final Variant variant) {
        stream = (stream + 1) % STREAMS;
        final boolean planned = variant.device.isEmpty();
        final StreamingSpec.Way way = plan.way();
        return new StreamingSpec(
                new StreamSpec(
                        new StreamSpec.Load(
                                variant.frameBytes,
                                setting.subscribers(),
                                0,
                                ns(variant.times.leadSeconds()),
                                ns(variant.times.seconds())),
                        new StreamSpec.Link(
                                GROUP,
                                PORT_FIRST + stream * PORTS_PER_STREAM,
                                ADDRESS,
                                ADDRESS,
                                "",
                                MTU_BYTES,
                                0,
                                true,
                                0),
                        0),
                new StreamingSpec.Way(
                        contender.scheme(),
                        way.transport(),
                        planned ? contender.placement() : way.placement(),
                        way.radix(),
                        way.chunkBytes()),
                planned ? plan.devices() : new StreamingSpec.Devices(List.of(variant.device), false, 0),
                new StreamingSpec.Flow(
                        plan.inFlight(),
                        ns(variant.times.loneSeconds()),
                        setting.direction(),
                        plan.backgroundBytesPerSecond()));
    }

    private static long ns(final double seconds) {
        return (long) (seconds * NS_PER_SECOND);
    }

    @Override
    public StreamingResult failed(
            final StreamingCase setting, final Contender contender, final MeasurementFailedException why) {
        framesDiffered |= contender.isFramecast() && why.reason() == Reason.FRAMES_DIFFER;
        return StreamingResult.failed(String.valueOf(why.getMessage()));
    }

    @Override
    public void onResult(
            final int round, final StreamingCase setting, final Contender contender, final StreamingResult result) {
        final String head = "round " + (round + 1) + ", " + contender.text() + ", " + setting.text() + ": ";
        console.accept(
                result.hasFailed()
                        ? head + "failed: " + result.failure()
                        : String.format(
                                Locale.ROOT,
                                "%s%.0f MB/s, background %.0f MB/s, alone %.2f ms",
                                head,
                                result.broadcastMBps(),
                                result.backgroundMBps(),
                                result.latencyUs() / 1e3));
    }

    /// Whether Framecast delivered frames that differ from those sent.
    boolean haveFramesDiffered() {
        return framesDiffered;
    }

    /// Any thread.
    @Override
    public void close() {
        pools.close();
    }
}
