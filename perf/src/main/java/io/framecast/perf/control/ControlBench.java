package io.framecast.perf.control;

import io.framecast.api.error.ConfigException;
import io.framecast.perf.table.Output;
import io.framecast.reliability.send.CoRootConfig;
import io.framecast.reliability.send.CoRootConfig.Feed;
import io.framecast.reliability.sim.Simulation;
import io.framecast.reliability.sim.plan.LinkSpec;
import io.framecast.reliability.sim.plan.SimOptions;
import io.framecast.reliability.sim.record.SimReport;
import io.framecast.samples.ToolContext;
import io.framecast.samples.options.Options;
import io.framecast.samples.options.Size;
import io.framecast.samples.options.Within;
import io.framecast.samples.options.Words;
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
    private static final int SLOT_BYTES = 1408;
    private static final int FRAME_BYTES_MAX = 64 << 20;
    private static final int WINDOW_SLOTS_MIN = 64;
    private static final double SECOND_NS = 1e9;
    private static final int FRAMES_HELD = 2;
    private static final String NONE = "none";
    private static final String ROOT = "root";
    private static final String EIGHTH = "eighth";
    private static final int EIGHT = 8;

    @Option(
            names = "--receivers",
            paramLabel = "LIST",
            description = "How many simulated receivers; default 2,4,8,16,32,64,128,256.")
    private Words receivers = Words.of("2", "4", "8", "16", "32", "64", "128", "256");

    @Option(
            names = "--co-roots",
            paramLabel = "LIST",
            description = "K for N receivers: none, root (√N), eighth (N ÷ 8), or a number; default none,root,eighth.")
    private Words coRoots = Words.of(NONE, ROOT, EIGHTH);

    @Option(names = "--loss", paramLabel = "SHARE", description = "Lost at each receiver; default 0.001.")
    @Within(most = 0.2)
    private double loss = 0.001;

    @Option(names = "--frames", paramLabel = "N", description = "How many frames; default 400.")
    @Within(least = 1, most = 100_000)
    private int frames = 400;

    @Option(names = "--frame-bytes", paramLabel = "SIZE", description = "Their length; default 100000.")
    @Within(least = 1, most = FRAME_BYTES_MAX)
    private Size frameBytes = new Size(100_000);

    @Option(
            names = "--window",
            paramLabel = "SIZE",
            description =
                    "The source's window, rounded up to a power of two of datagrams of 1408 bytes; default 5632k.")
    @Within(least = WINDOW_SLOTS_MIN * SLOT_BYTES, most = 2 * FRAME_BYTES_MAX)
    private Size window = new Size(5632 << 10);

    @Option(
            names = "--rate",
            paramLabel = "SIZE",
            description = "Payload per second on the source's link; default 1408000000, a datagram per microsecond.")
    @Within(least = 1 << 20, most = 2_000_000_000)
    private Size rate = new Size(1_408_000_000);

    @Option(
            names = "--batch",
            paramLabel = "N",
            description = "Datagrams that the link takes at a time, 46 for bursts of 64 KiB; default 16.")
    @Within(least = 1, most = 1024)
    private int batch = 16;

    @Option(names = "--seed", paramLabel = "S", description = "What is lost follows from it; default 1.")
    private long seed = 1;

    /// @return the tool's exit status
    public int run(final ToolContext context) {
        final Output output = new Output(context, null);
        final List<Integer> counts = receivers.values().stream()
                .map(text -> whole("--receivers", text, 1, RECEIVERS_MAX))
                .toList();
        final List<String> rules =
                coRoots.values().stream().map(ControlBench::rule).distinct().toList();
        final SimOptions base = stream();
        final List<ControlRow> rows = new ArrayList<>();
        for (final int count : counts) {
            for (final String rule : rules) {
                final int most = coRoots(rule, count);
                // That rule has none for so few.
                if (most == 0 && !rule.equals(NONE) && !rule.equals("0")) {
                    continue;
                }
                final SimReport report = simulate(base, count, most);
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
        head.put("frames", frames);
        head.put("frame_bytes", frameBytes.value());
        head.put("window_bytes", window.value());
        head.put("rate", rate.value());
        head.put("batch", batch);
        output.write("control", head, ControlRow.TABLE, rows, "", List.of());
        return Output.DONE;
    }

    private SimOptions stream() {
        final int slots = Integer.highestOneBit((window.bytes() - 1) / SLOT_BYTES) << 1;
        Options.require(
                frameBytes.value() <= (long) slots * SLOT_BYTES,
                "--window: expected at least a frame of " + frameBytes + " bytes");
        return SimOptions.quiet(1, frames)
                .withFrames(frameBytes.bytes(), SLOT_BYTES, slots)
                .withFlow(slots / 2, FRAMES_HELD, 0)
                .withSourceRate(Math.round(SLOT_BYTES * SECOND_NS / rate.value()), batch)
                .withLink(LinkSpec.lossy(loss).withQueue(slots));
    }

    private SimReport simulate(final SimOptions base, final int count, final int most) {
        return Simulation.run(seed, base.withReceivers(count).withCoRoots(new CoRootConfig(most, Feed.MULTICAST)));
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
        return (int) Options.within(option, Integer.parseInt(text), least, most);
    }
}
