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
    private static final int SLOT_BYTES = 1408;
    private static final int FRAME_BYTES_MAX = 64 << 20;
    private static final int WINDOW_SLOTS_MIN = 64;
    private static final int BATCH_MAX = 1024;
    private static final int RATE_MIN = 1 << 20;
    private static final int RATE_MAX = 2_000_000_000;
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
    private String receivers = "2,4,8,16,32,64,128,256";

    @Option(
            names = "--co-roots",
            paramLabel = "LIST",
            description = "K for N receivers: none, root (√N), eighth (N ÷ 8), or a number; default none,root,eighth.")
    private String coRoots = "none,root,eighth";

    @Option(names = "--loss", paramLabel = "SHARE", description = "Lost at each receiver; default 0.001.")
    private double loss = 0.001;

    @Option(names = "--frames", paramLabel = "N", description = "How many frames; default 400.")
    private int frames = 400;

    @Option(names = "--frame-bytes", paramLabel = "SIZE", description = "Their length; default 100000.")
    private String frameBytes = "100000";

    @Option(
            names = "--window",
            paramLabel = "SIZE",
            description =
                    "The source's window, rounded up to a power of two of datagrams of 1408 bytes; default 5632k.")
    private String window = "5632k";

    @Option(
            names = "--rate",
            paramLabel = "SIZE",
            description = "Payload per second on the source's link; default 1408000000, a datagram per microsecond.")
    private String rate = "1408000000";

    @Option(
            names = "--batch",
            paramLabel = "N",
            description = "Datagrams that the link takes at a time, 46 for bursts of 64 KiB; default 16.")
    private int batch = 16;

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
        final int length = OptionValues.bytes("--frame-bytes", frameBytes, 1, FRAME_BYTES_MAX);
        final int windowBytes =
                OptionValues.bytes("--window", window, WINDOW_SLOTS_MIN * SLOT_BYTES, 2 * FRAME_BYTES_MAX);
        final int perSecond = OptionValues.bytes("--rate", rate, RATE_MIN, RATE_MAX);
        OptionValues.within("--batch", batch, 1, BATCH_MAX);
        final SimOptions base = stream(length, windowBytes, perSecond);
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
        head.put("frame_bytes", length);
        head.put("window_bytes", windowBytes);
        head.put("rate", perSecond);
        head.put("batch", batch);
        output.write("control", head, ControlRow.TABLE, rows, "", List.of());
        return Output.DONE;
    }

    private SimOptions stream(final int length, final int windowBytes, final int perSecond) {
        final int slots = Integer.highestOneBit((windowBytes - 1) / SLOT_BYTES) << 1;
        OptionValues.require(
                length <= (long) slots * SLOT_BYTES, "--window: expected at least a frame of " + length + " bytes");
        return SimOptions.quiet(1, frames)
                .withFrames(length, SLOT_BYTES, slots)
                .withFlow(slots / 2, FRAMES_HELD, 0)
                .withSourceRate(Math.round(SLOT_BYTES * SECOND_NS / perSecond), batch)
                .withLink(LinkSpec.lossy(loss).withQueue(slots));
    }

    private SimReport simulate(final SimOptions base, final int count, final int most) {
        return Simulation.run(
                seed, base.withReceivers(count).withCoRoots(new CoRootConfig(most, Feed.MULTICAST, Sets.SITE)));
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
