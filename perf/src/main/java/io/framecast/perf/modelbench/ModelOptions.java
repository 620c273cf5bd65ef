package io.framecast.perf.modelbench;

import io.framecast.perf.harness.DeviceChoice;
import io.framecast.perf.harness.FrameContent;
import io.framecast.perf.harness.LinkOptions;
import io.framecast.perf.harness.MachineInfo;
import io.framecast.perf.harness.Network;
import io.framecast.perf.harness.Networks;
import io.framecast.perf.models.CostModel;
import io.framecast.perf.streaming.Impairment;
import io.framecast.perf.streaming.StreamingPlan;
import io.framecast.perf.streaming.StreamingRun;
import io.framecast.perf.table.Figure;
import io.framecast.perf.table.Output;
import io.framecast.perf.table.Statistics;
import io.framecast.perf.table.Table;
import io.framecast.perf.table.Texts;
import io.framecast.samples.ToolContext;
import io.framecast.samples.options.Options;
import io.framecast.samples.options.Sizes;
import io.framecast.samples.options.Within;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// The options of `framecast bench models`, and its course.
public final class ModelOptions {
    private static final int GROUPS_MIN = 4;
    private static final long DEVICE_LINK = 1_000_000_000;
    private static final double US_PER_MS = 1e3;
    private static final double OVERLAP_PER_DOUBLING = 0.05;
    private static final List<String> ALL_SOURCES = List.of("multicast", "ring-pipeline", "knomial-2-pipeline");

    private static final Table<ModelRow> TABLE = new Table<ModelRow>()
            .left(2)
            .both("scheme", "scheme", ModelRow::scheme)
            .both("equation", "eq.", ModelRow::equation)
            .field("frame_bytes", ModelRow::frameBytes)
            .column("frame", row -> Texts.bytes(row.frameBytes()))
            .both("processes", "n", ModelRow::processes)
            .field("measured_us", row -> row.measured().median())
            .column("ms", row -> Table.decimal(row.measured().median() / US_PER_MS, 2))
            .field("measured_us_min", row -> row.measured().min())
            .field("measured_us_max", row -> row.measured().max())
            .field("predicted_us", ModelRow::predictedUs)
            .column("model ms", row -> Table.decimal(row.predictedUs() / US_PER_MS, 2))
            .both("relative_error", "error", 2, ModelRow::error)
            .field("rounds", row -> row.roundsUs().size());

    @Option(
            names = "--sizes",
            paramLabel = "LIST",
            description = "Lengths of frames, multiples of 1024; default 64K,512K,4M.")
    @Within(least = FrameContent.BLOCK_BYTES, most = 64 << 20, multipleOf = FrameContent.BLOCK_BYTES)
    private Sizes sizes = Sizes.of(64 << 10, 512 << 10, 4 << 20);

    @Option(
            names = "--receivers",
            paramLabel = "LIST",
            description = "Numbers of receivers, four at least, to which t_o(n) is fitted; default 1,2,4,8,16.")
    @Within(least = 1, most = StreamingRun.RECEIVERS_MAX)
    private Sizes receivers = Sizes.of(1, 2, 4, 8, 16);

    @Mixin
    private final LinkOptions links = new LinkOptions("bridge", 50_000_000);

    @Option(names = "--rounds", paramLabel = "N", description = "Rounds, of which the median counts; default 3.")
    @Within(least = 1, most = 100)
    private int rounds = 3;

    @Option(
            names = "--warm-up",
            paramLabel = "S",
            description = "Most that a scheme's processes run untimed until they are steady; default 8.")
    @Within(most = 600)
    private double warmUp = 8;

    @Option(names = "--out", paramLabel = "DIR", description = "Write models.json, models.csv and plots.")
    private @Nullable Path out;

    /// @throws io.framecast.api.error.ConfigException naming option, expectation and value
    StreamingPlan plan() {
        final List<Integer> groups = receivers.ints().stream().sorted().toList();
        Options.require(
                groups.size() >= GROUPS_MIN,
                "--receivers: expected " + GROUPS_MIN + " numbers or more, got " + receivers);
        return new StreamingPlan(
                ModelScheme.ALL.stream().map(ModelScheme::contender).distinct().toList(),
                groups,
                List.of(),
                List.of(Impairment.NONE),
                0,
                1 << 20,
                "udp",
                links.links(),
                Network.LOOPBACK_ADDRESS,
                links.chunkBytes(),
                List.of(DeviceChoice.HOST),
                true,
                DEVICE_LINK,
                1,
                new StreamingPlan.Times(rounds, warmUp, 0.1, 0.1, 0.2));
    }

    /// @return the tool's exit status
    public int run(final ToolContext context) throws InterruptedException {
        final StreamingPlan plan = plan();
        final List<Integer> lengths = sizes.ints();
        final Output output = new Output(context, out);
        if (plan.links().areOfHosts()) {
            Networks.require("--net bridge: ");
        }
        final MachineInfo machine = MachineInfo.announced(context::line);
        final Map<String, @Nullable Object> head = new LinkedHashMap<>();
        head.put("bench", "models");
        head.put("machine", machine.json());
        plan.links().describe(head);
        head.put("mtu", plan.links().mtuBytes());
        head.put("chunk_bytes", plan.chunkBytes());
        try (StreamingRun streams = new StreamingRun(plan, context::line)) {
            context.onStop(streams::close);
            final ModelRun models = new ModelRun(plan, streams, lengths, context::line);
            final List<ModelRow> rows = models.measure(found -> head.put("model", json(found)));
            final Statistics errors = Statistics.of(rows.stream()
                    .map(ModelRow::error)
                    .filter(error -> !error.isNaN())
                    .toList());
            head.put("relative_error_median", errors.median());
            head.put("relative_error_max", errors.max());
            head.put("failures", models.failures());
            final String text = String.format(
                    Locale.ROOT,
                    "Relative error: median %.2f, most %.2f. n counts the source. Rows without a measurement are"
                            + " predictions for the same links, with t_o(n) growing as ln(n).%n",
                    errors.median(),
                    errors.max());
            output.write("models", head, TABLE, rows, text, figures(lengths, rows));
            return output.status(streams.haveFramesDiffered(), models.failures());
        }
    }

    private static Map<String, Object> json(final ModelScheme.Parameters found) {
        final Map<String, Object> all = new LinkedHashMap<>();
        all.put("hop_start_us", found.hop().setUpSeconds() * 1e6);
        all.put("hop_MBps", found.hop().bandwidth() / 1e6);
        all.put("multicast_frame_us", found.frameSeconds() * 1e6);
        all.put("multicast_MBps", found.datagram().bandwidth() / 1e6);
        all.put("multicast_payload_bytes", found.datagram().payloadBytes());
        all.put("multicast_overhead_us", found.datagram().overheadSeconds() * 1e6);
        all.put("copy_to_host_MBps", found.toHost().bandwidth() / 1e6);
        all.put("copy_to_device_MBps", found.toDevice().bandwidth() / 1e6);
        return all;
    }

    // As figures 5 (by length), 7 (by number), 13 and 14 (predicted for more, and all of them sources) of Chu et al.
    // 2019.
    private static List<Figure> figures(final List<Integer> lengths, final List<ModelRow> rows) {
        final Predicate<ModelRow> isMeasured = row -> !row.roundsUs().isEmpty();
        final Function<ModelRow, String> byNumber = row -> Integer.toString(row.processes());
        final int most = rows.stream()
                .filter(isMeasured)
                .mapToInt(ModelRow::processes)
                .max()
                .orElse(2);
        final List<Figure> figures = new ArrayList<>();
        figures.add(figure(
                "models-by-length",
                "One broadcast to " + (most - 1) + " receivers, measured and by models",
                "frame",
                rows.stream().filter(row -> row.processes() == most).toList(),
                row -> Texts.bytes(row.frameBytes())));
        for (final int bytes : lengths) {
            final String size = Texts.bytes(bytes);
            final List<ModelRow> same =
                    rows.stream().filter(row -> row.frameBytes() == bytes).toList();
            figures.add(figure(
                    "models-by-number-" + bytes,
                    "One broadcast of " + size + ", measured and by models",
                    "processes",
                    same.stream().filter(isMeasured).toList(),
                    byNumber));
            figures.add(figure(
                    "models-predicted-" + bytes,
                    "One broadcast of " + size + ", predicted",
                    "processes",
                    same.stream().filter(isMeasured.negate()).toList(),
                    byNumber));
            figures.add(Figure.of(
                    "models-all-sources-" + bytes,
                    "A broadcast of " + size + " by each process at once, predicted",
                    "processes",
                    "ms",
                    same.stream()
                            .filter(row -> ALL_SOURCES.contains(row.scheme()))
                            .map(row -> new Figure.Value(row.scheme(), byNumber.apply(row), allSources(row)))
                            .toList(),
                    true));
        }
        return figures;
    }

    // Eq. 9, with the overlap of §8: "all schemes gain a 5% additional overlap with each doubling" of the sources.
    private static Statistics allSources(final ModelRow row) {
        final int sources = row.processes();
        final double overlap = OVERLAP_PER_DOUBLING * Math.log(sources) / Math.log(2);
        return Statistics.of(List.of(CostModel.severalSources(overlap, sources, row.predictedUs())))
                .per(US_PER_MS);
    }

    private static Figure figure(
            final String id,
            final String title,
            final String xTitle,
            final List<ModelRow> rows,
            final Function<ModelRow, String> category) {
        final List<Figure.Value> values = new ArrayList<>();
        for (final ModelRow row : rows) {
            if (!row.roundsUs().isEmpty()) {
                values.add(new Figure.Value(
                        row.scheme(), category.apply(row), row.measured().per(US_PER_MS)));
            }
            final Statistics predicted =
                    Statistics.of(List.of(row.predictedUs())).per(US_PER_MS);
            values.add(new Figure.Value(row.scheme() + ", model", category.apply(row), predicted));
        }
        return Figure.of(id, title, xTitle, "ms", values, true);
    }
}
