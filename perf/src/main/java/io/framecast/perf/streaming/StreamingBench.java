package io.framecast.perf.streaming;

import io.framecast.api.error.ConfigException;
import io.framecast.perf.bench.MachineInfo;
import io.framecast.perf.report.ReportFolder;
import io.framecast.samples.PeerLostException;
import io.framecast.samples.ToolContext;
import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// `framecast bench streaming`: its course.
public final class StreamingBench {
    private static final int DONE = 0;
    private static final int MISMATCH = 1;

    private final StreamingPlan plan;
    private final ToolContext context;

    private StreamingBench(final StreamingPlan plan, final ToolContext context) {
        this.plan = plan;
        this.context = context;
    }

    /// @return the tool's exit status
    public static int run(final StreamingOptions options, final ToolContext context) throws InterruptedException {
        context.requireWritable();
        final StreamingPlan plan = options.plan();
        plan.out().ifPresent(ReportFolder::requireWritable);
        return new StreamingBench(plan, context).run();
    }

    private int run() throws InterruptedException {
        final MachineInfo machine = MachineInfo.read();
        context.line(machine.text());
        if (machine.isBusy()) {
            context.line("warning: something else runs on this machine, and figures will be off");
        }
        context.line(String.format(
                Locale.ROOT,
                "%d measurements, about %.0f s",
                plan.times().rounds() * plan.cases().size() * plan.contenders().size(),
                plan.aboutSeconds()));
        final String started = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
        try (StreamingRun run = new StreamingRun(plan, context::line)) {
            context.onStop(run::close);
            final StreamingReport report = measure(run, machine, started);
            write(report);
            return status(report, run);
        } catch (final IllegalStateException e) {
            if (context.isStopped()) {
                throw new ConfigException("stopped before the end: nothing is reported", e);
            }
            throw e;
        }
    }

    private StreamingReport measure(final StreamingRun run, final MachineInfo machine, final String started)
            throws InterruptedException {
        for (final Contender contender : plan.contenders()) {
            try {
                run.warmUp(contender);
            } catch (final StreamingPool.FailedException e) {
                // Its rounds will say so, too.
                context.line("warm-up, " + contender.text() + ": " + e.getMessage());
            }
        }
        final ModelParameters parameters = new ModelProbe(plan, run, context::line).measure();
        return new StreamingReport(machine, plan, started, parameters, rows(run.measure(), parameters));
    }

    private List<StreamingRow> rows(
            final Map<StreamingCase, List<StreamingResult>> results, final ModelParameters parameters) {
        final Map<StreamingCase, StreamingRow> peaks = new HashMap<>();
        final List<StreamingRow> rows = new ArrayList<>();
        plan.cases().stream().flatMap(List::stream).forEach(setting -> {
            final @Nullable StreamingRow peak = peaks.get(setting.alone());
            final StreamingRow bare =
                    new StreamingRow(setting, plan, results.getOrDefault(setting, List.of()), peak, null);
            final StreamingRow row = new StreamingRow(setting, plan, bare.rounds(), peak, prediction(bare, parameters));
            peaks.putIfAbsent(setting, row);
            rows.add(row);
        });
        return rows;
    }

    // Models of what was measured for them, and of a placement that they know.
    private @Nullable Prediction prediction(final StreamingRow row, final ModelParameters parameters) {
        final String placement = row.ran().placement();
        if (!Prediction.covers(placement)) {
            return null;
        }
        final List<String> names = plan.devices().names();
        final boolean ownDevices = DeviceChoice.parse(names.getFirst()).isEmulated();
        final int sharers = ownDevices ? 1 : Math.ceilDiv(row.setting().subscribers(), names.size());
        return Prediction.of(
                new Prediction.Question(
                        row.setting(),
                        plan.frameBytes(),
                        plan.devices().sourceInDevice() && !placement.equals(DeviceChoice.HOST),
                        placement,
                        sharers),
                plan,
                parameters);
    }

    private void write(final StreamingReport report) {
        final String table = report.table();
        if (context.hasJson()) {
            context.line(table);
        }
        plan.out().ifPresent(folder -> {
            try {
                report.write(folder).forEach(context::line);
            } catch (final IOException e) {
                throw new ConfigException("--out: cannot write to " + folder + ": " + e.getMessage(), e);
            }
        });
        context.result(json(report), table);
    }

    // The tool's writer takes null for null.
    @SuppressWarnings("NullAway")
    private static Map<String, Object> json(final StreamingReport report) {
        return new java.util.LinkedHashMap<>(report.json());
    }

    // A rival that failed is told in its row; that Framecast did is the result.
    private int status(final StreamingReport report, final StreamingRun run) {
        if (run.haveFramesDiffered()) {
            context.line("framecast: mismatch: frames differ from what was sent, see the rounds");
            return MISMATCH;
        }
        final List<String> failures = report.rows().stream()
                .filter(row -> row.setting().contender().isFramecast())
                .flatMap(row -> row.failures().stream())
                .toList();
        if (!failures.isEmpty()) {
            throw new PeerLostException(failures.size() + " measurements of Framecast failed: " + failures.getFirst());
        }
        return DONE;
    }
}
