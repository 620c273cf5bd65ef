package io.framecast.perf.alltoall;

import io.framecast.perf.harness.MachineInfo;
import io.framecast.perf.streaming.Scheme;
import io.framecast.perf.streaming.StreamingOptions;
import io.framecast.perf.streaming.StreamingPlan;
import io.framecast.perf.table.Figure;
import io.framecast.perf.table.Output;
import io.framecast.perf.table.Statistics;
import io.framecast.perf.table.Table;
import io.framecast.perf.table.Texts;
import io.framecast.samples.ToolContext;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// `framecast bench streaming --mode all-to-all`: its course and its report.
public final class AllToAllBench {
    private static final double US_PER_MS = 1e3;

    private static final Table<AllToAllRow> TABLE = new Table<AllToAllRow>()
            .both("scheme", "scheme", AllToAllRow::scheme)
            .both("processes", "processes", AllToAllRow::processes)
            .field("frame_bytes", AllToAllRow::frameBytes)
            .field("single_us", AllToAllRow::singleUs)
            .column("one ms", row -> Table.decimal(row.singleUs() / US_PER_MS, 2))
            .field("several_us", AllToAllRow::severalUs)
            .column("all ms", row -> Table.decimal(row.severalUs() / US_PER_MS, 2))
            .both("overlap", "overlap", 2, AllToAllRow::overlap)
            .field("overlap_of_links", AllToAllRow::overlapOfLinks)
            .field("predicted_us", AllToAllRow::predictedUs)
            .column("eq. 9 ms", row -> Table.decimal(row.predictedUs() / US_PER_MS, 2))
            .both("relative_error", "error", 2, AllToAllRow::error)
            .both("goodput_MBps", "MB/s each", 1, row -> row.median(AllToAllRound::goodputMBps))
            .both("receiver_link_share", "of link", 2, row -> row.median(AllToAllRound::linkShare))
            .both("sent_bytes_per_byte", "sent B/B", 2, row -> row.median(AllToAllRound::sentPerByte))
            .both("sent_of_unicast", "of unicast", 2, AllToAllRow::ofUnicast)
            .both("cpu_share", "CPU", 2, row -> row.median(AllToAllRound::busyShare))
            .field("failures", AllToAllRow::failures);

    private AllToAllBench() {}

    /// @return the tool's exit status
    public static int run(final ToolContext context, final StreamingOptions options) throws InterruptedException {
        final StreamingPlan plan = options.plan();
        final List<Integer> processes = options.processes();
        final String device = options.deviceOfAll();
        final List<String> schemes = new ArrayList<>(List.of(AllToAllSpec.MULTICAST));
        if (plan.contenders().stream().anyMatch(one -> one.scheme().equals(Scheme.RING))) {
            schemes.add(AllToAllSpec.RING);
        }
        final Output output = options.output(context, plan);
        final MachineInfo machine = MachineInfo.announced(context::line);
        final Map<String, @Nullable Object> head = new LinkedHashMap<>();
        head.put("bench", "all-to-all");
        head.put("machine", machine.json());
        plan.links().describe(head);
        head.put("device", device);
        head.put("chunk_bytes", plan.chunkBytes());
        try (AllToAllRun run = new AllToAllRun(plan, processes, context::line)) {
            context.onStop(run::close);
            final List<AllToAllRow> rows = run.measure(schemes);
            final String text = String.format(
                    Locale.ROOT,
                    "Frames of %s: one ms, a broadcast of one process; all ms, one of each at once; eq. 9 with the overlap"
                            + " that links leave, 1/n.%n",
                    Texts.bytes(plan.frameBytes()));
            output.write("all-to-all", head, TABLE, rows, text, figures(rows));
            return output.statusOf(run.haveFramesDiffered(), rows);
        }
    }

    // As figures 9 and 13 of Chu et al. 2019.
    private static List<Figure> figures(final List<AllToAllRow> rows) {
        final List<Figure.Value> values = new ArrayList<>();
        for (final AllToAllRow row : rows) {
            final String category = Integer.toString(row.processes());
            values.add(new Figure.Value(
                    row.scheme(), category, row.of(AllToAllRound::severalUs).per(US_PER_MS)));
            values.add(new Figure.Value(
                    row.scheme() + ", eq. 9",
                    category,
                    Statistics.of(List.of(row.predictedUs())).per(US_PER_MS)));
        }
        return List.of(
                Figure.of("all-to-all", "One broadcast of each process at once", "processes", "ms", values, true));
    }
}
