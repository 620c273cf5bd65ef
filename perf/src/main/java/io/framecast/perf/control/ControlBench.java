package io.framecast.perf.control;

import io.framecast.api.error.ConfigException;
import io.framecast.perf.harness.OptionValues;
import io.framecast.perf.table.Output;
import io.framecast.reliability.send.CoRootConfig;
import io.framecast.reliability.send.CoRootConfig.Feed;
import io.framecast.reliability.send.CoRootConfig.Sets;
import io.framecast.reliability.sim.Simulation;
import io.framecast.reliability.sim.plan.LinkSpec;
import io.framecast.reliability.sim.plan.SimOptions;
import io.framecast.reliability.sim.record.SimReport;
import io.framecast.samples.ToolContext;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// `framecast bench control`: its options as users give them, and its course. Each row is a run of the
/// protocol in its simulator, so that it depends on its options alone.
public final class ControlBench {
    private static final int RECEIVERS_MAX = 1024;
    private static final int FRAMES_MAX = 100_000;
    private static final double LOSS_MAX = 0.2;
    private static final int FRAME_BYTES = 100_000;
    private static final int SLOT_BYTES = 1408;
    private static final int WINDOW_SLOTS = 4096;
    private static final int GRANT_SLOTS = 2048;
    private static final int FRAMES_HELD = 2;
    private static final String NONE = "none";
    private static final String ROOT = "root";
    private static final String EIGHTH = "eighth";
    private static final int EIGHT = 8;

    @Option(
            names = "--receivers",
            paramLabel = "LIST",
            description = "How many simulated receivers; default 2,4,8,16,32,64,128,256.")
    private String receivers = "2,4,8,16,32,64,128,256";

    @Option(
            names = "--co-roots",
            paramLabel = "LIST",
            description = "K for N receivers: none, root (√N), eighth (N ÷ 8), or a number; default none,root,eighth.")
    private String coRoots = "none,root,eighth";

    @Option(names = "--loss", paramLabel = "SHARE", description = "Lost at each receiver; default 0.001.")
    private double loss = 0.001;

    @Option(names = "--frames", paramLabel = "N", description = "Frames of 100 000 bytes; default 400.")
    private int frames = 400;

    @Option(names = "--seed", paramLabel = "S", description = "What is lost follows from it; default 1.")
    private long seed = 1;

    /// @return the tool's exit status
    public int run(final ToolContext context) {
        final Output output = new Output(context, null);
        final List<Integer> counts =
                OptionValues.list("--receivers", receivers, text -> whole("--receivers", text, 1, RECEIVERS_MAX));
        final List<String> rules = OptionValues.list("--co-roots", coRoots, ControlBench::rule);
        OptionValues.within("--loss", loss, 0, LOSS_MAX);
        OptionValues.within("--frames", frames, 1, FRAMES_MAX);
        final List<ControlRow> rows = new ArrayList<>();
        for (final int count : counts) {
            for (final String rule : rules) {
                final int most = coRoots(rule, count);
                // That rule has none for so few.
                if (most == 0 && !rule.equals(NONE) && !rule.equals("0")) {
                    continue;
                }
                final SimReport report = simulate(count, most);
                if (!report.isClean()) {
                    context.line("framecast: mismatch: " + count + " receivers, seed " + seed + ": "
                            + report.violations().getFirst());
                    return Output.MISMATCH;
                }
                final ControlRow row = ControlRow.of(count, most, rule, report);
                context.line(row.text());
                rows.add(row);
                if (context.isStopped()) {
                    throw new ConfigException("stopped before the end: nothing is reported");
                }
            }
        }
        final Map<String, @Nullable Object> head = new LinkedHashMap<>();
        head.put("seed", seed);
        head.put("loss", loss);
        output.write("control", head, ControlRow.TABLE, rows, "", List.of());
        return Output.DONE;
    }

    private SimReport simulate(final int count, final int most) {
        return Simulation.run(
                seed,
                SimOptions.quiet(count, frames)
                        .withFrames(FRAME_BYTES, SLOT_BYTES, WINDOW_SLOTS)
                        .withFlow(GRANT_SLOTS, FRAMES_HELD, 0)
                        .withLink(LinkSpec.lossy(loss).withQueue(WINDOW_SLOTS))
                        .withCoRoots(new CoRootConfig(most, Feed.MULTICAST, Sets.SITE)));
    }

    private static int coRoots(final String rule, final int count) {
        return switch (rule) {
            case NONE -> 0;
            case ROOT -> (int) Math.round(Math.sqrt(count));
            case EIGHTH -> count / EIGHT;
            default -> Integer.parseInt(rule);
        };
    }

    private static String rule(final String text) {
        return List.of(NONE, ROOT, EIGHTH).contains(text)
                ? text
                : Integer.toString(whole("--co-roots", text, 0, CoRootConfig.COUNT_MAX));
    }

    private static int whole(final String option, final String text, final int least, final int most) {
        if (!text.matches("\\d{1,6}")) {
            throw new ConfigException(option + ": expected whole numbers, got " + text);
        }
        return (int) OptionValues.within(option, Integer.parseInt(text), least, most);
    }
}
