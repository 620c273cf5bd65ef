package io.framecast.perf.modelbench;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.perf.harness.DeviceChoice;
import io.framecast.perf.harness.MeasurementFailedException;
import io.framecast.perf.models.CostModel;
import io.framecast.perf.streaming.Contender;
import io.framecast.perf.streaming.Direction;
import io.framecast.perf.streaming.ModelProbe;
import io.framecast.perf.streaming.Scheme;
import io.framecast.perf.streaming.StreamingCase;
import io.framecast.perf.streaming.StreamingPlan;
import io.framecast.perf.streaming.StreamingRun;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Consumer;

/// Measures what the models of Chu et al. 2019 need, then what they predict: one broadcast at a time, scheme by
/// scheme.
final class ModelRun {
    private static final int[] LENGTHS = {64 << 10, 512 << 10, 4 << 20};
    private static final int LONG_BYTES = 4 << 20;
    private static final StreamingPlan.Times TIMES = new StreamingPlan.Times(1, 0, 0, 0.1, 0, true);
    private static final double US = 1e6;
    private static final int PREDICTED_MAX = 1024;

    private final StreamingPlan plan;
    private final StreamingRun run;
    private final List<Integer> sizes;
    private final Consumer<String> console;
    private final List<String> failures = new ArrayList<>();
    private final Map<ModelScheme, Map<Shape, List<Double>>> measured = new HashMap<>();
    private CostModel.Hop hop = new CostModel.Hop(Double.NaN, Double.NaN);
    private double frameSeconds = Double.NaN;
    private final double payloadBytes;
    private CostModel.Multicast datagram;

    /// A broadcast, by any scheme.
    private record Shape(int receivers, int bytes) {}

    /// @param plan its contenders' rounds, groups, links and chunks count
    /// @param sizes of frames
    ModelRun(
            final StreamingPlan plan,
            final StreamingRun run,
            final List<Integer> sizes,
            final Consumer<String> console) {
        this.plan = plan;
        this.run = run;
        this.sizes = sizes;
        this.console = console;
        payloadBytes = ModelProbe.payloadBytes(plan.links().mtuBytes());
        datagram = new CostModel.Multicast(0, 0, Double.NaN, payloadBytes);
    }

    List<String> failures() {
        return failures;
    }

    /// @param onParameters takes them once they are known
    List<ModelRow> measure(final Consumer<ModelScheme.Parameters> onParameters) throws InterruptedException {
        for (final Contender contender : plan.contenders()) {
            try {
                run.warmUpOnHost(contender);
                if (contender.scheme().equals(Scheme.RING)) {
                    measureHop();
                } else if (contender.isFramecast()) {
                    measureDatagrams();
                }
                for (int round = 0; round < plan.times().rounds(); round++) {
                    measure(contender);
                }
            } catch (final MeasurementFailedException e) {
                failures.add(contender.text() + ": " + e.getMessage());
            }
            // Their memory is for those that follow.
            run.end(contender);
        }
        final ModelScheme.Parameters parameters = parameters();
        onParameters.accept(parameters);
        return rows(parameters);
    }

    private ModelScheme.Parameters parameters() {
        final String device = ModelScheme.MULTICAST_STAGED.devices().getFirst();
        try (DeviceBackend opened = DeviceChoice.parse(device).open(plan.linkBytesPerSecond())) {
            return new ModelScheme.Parameters(
                    hop,
                    frameSeconds,
                    datagram,
                    ModelProbe.copies(opened, false, LONG_BYTES),
                    ModelProbe.copies(opened, true, LONG_BYTES),
                    plan.links().bytesPerSecond());
        }
    }

    private void measure(final Contender contender) throws InterruptedException {
        for (final int receivers : plan.subscribers()) {
            for (final int bytes : sizes) {
                for (final ModelScheme scheme : ModelScheme.of(contender)) {
                    measure(scheme, new Shape(receivers, bytes));
                }
            }
        }
    }

    private void measure(final ModelScheme scheme, final Shape shape) throws InterruptedException {
        final String head = scheme.label() + " to " + shape.receivers + " receivers, " + shape.bytes + " bytes: ";
        try {
            final double seconds = loneSeconds(scheme, shape.receivers, shape.bytes);
            measured.computeIfAbsent(scheme, _ -> new HashMap<>())
                    .computeIfAbsent(shape, _ -> new ArrayList<>())
                    .add(seconds * US);
            console.accept(String.format(Locale.ROOT, "%s%.2f ms", head, seconds * 1e3));
        } catch (final MeasurementFailedException e) {
            failures.add(head + e.getMessage());
            console.accept(failures.getLast());
        }
    }

    private double loneSeconds(final ModelScheme scheme, final int receivers, final int bytes)
            throws InterruptedException, MeasurementFailedException {
        final StreamingPlan changed =
                plan.with(bytes, scheme.chunkBytes(bytes, plan.chunkBytes()), scheme.devices(), TIMES);
        final StreamingCase setting = new StreamingCase(receivers, Direction.NONE);
        return run.loneUs(setting, scheme.contender(), changed) / US;
    }

    // Of frames to a receiver that are passed on as a whole: the best of the rounds, because other load makes it
    // longer,
    // never shorter. As if the link had let no burst through.
    private double bestSeconds(final ModelScheme scheme, final int receivers, final int bytes)
            throws InterruptedException, MeasurementFailedException {
        double best = Double.POSITIVE_INFINITY;
        for (int round = 0; round < plan.times().rounds(); round++) {
            best = Math.min(best, loneSeconds(scheme, receivers, bytes));
        }
        return best + ModelScheme.savedSeconds(bytes, plan.links().bytesPerSecond());
    }

    private CostModel.Line byLength(final ModelScheme scheme) throws InterruptedException, MeasurementFailedException {
        final double[] bytes = new double[LENGTHS.length];
        final double[] seconds = new double[LENGTHS.length];
        for (int i = 0; i < LENGTHS.length; i++) {
            bytes[i] = LENGTHS[i];
            seconds[i] = bestSeconds(scheme, 1, LENGTHS[i]);
        }
        return CostModel.Line.through(bytes, seconds);
    }

    private void measureHop() throws InterruptedException, MeasurementFailedException {
        final CostModel.Line line = byLength(ModelScheme.RING);
        hop = new CostModel.Hop(line.at0(), 1 / line.slope());
    }

    // t_o(n) by least squares over all sizes of the group.
    private void measureDatagrams() throws InterruptedException, MeasurementFailedException {
        frameSeconds = Math.max(0, byLength(ModelScheme.MULTICAST).at0());
        final List<Integer> groups = plan.subscribers();
        final double[] logs = new double[groups.size()];
        final double[] seconds = new double[groups.size()];
        double meanLog = 0;
        double mean = 0;
        for (int i = 0; i < logs.length; i++) {
            logs[i] = Math.log(groups.get(i) + 1.0);
            final double all = bestSeconds(ModelScheme.MULTICAST, groups.get(i), LONG_BYTES) - frameSeconds;
            seconds[i] = all * payloadBytes / LONG_BYTES;
            meanLog += logs[i] / logs.length;
            mean += seconds[i] / logs.length;
        }
        // Never less than 0: more receivers do not make a datagram faster.
        final double overhead =
                Math.max(0, CostModel.Line.through(logs, seconds).slope());
        datagram = new CostModel.Multicast(0, overhead, payloadBytes / (mean - overhead * meanLog), payloadBytes);
    }

    private List<ModelRow> rows(final ModelScheme.Parameters parameters) {
        final TreeSet<Integer> all = new TreeSet<>(plan.subscribers());
        for (int processes = 2; processes <= PREDICTED_MAX; processes *= 2) {
            all.add(processes - 1);
        }
        final List<ModelRow> rows = new ArrayList<>();
        for (final ModelScheme scheme : ModelScheme.ALL) {
            for (final int bytes : sizes) {
                for (final int receivers : all) {
                    rows.add(new ModelRow(
                            scheme.label(),
                            bytes,
                            receivers + 1,
                            scheme.equation(),
                            scheme.seconds(receivers + 1, bytes, plan.chunkBytes(), parameters) * US,
                            measured.getOrDefault(scheme, Map.of())
                                    .getOrDefault(new Shape(receivers, bytes), List.of())));
                }
            }
        }
        return rows;
    }
}
