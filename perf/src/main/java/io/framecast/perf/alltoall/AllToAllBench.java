package io.framecast.perf.alltoall;

import io.framecast.perf.harness.BenchNet;
import io.framecast.perf.harness.MachineInfo;
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
    /// Most processes that a network of the benches has.
    public static final int PROCESSES_MAX = 16;
    /// Framecast, a channel for each source.
    public static final String MULTICAST = AllToAllSpec.MULTICAST;
    /// A ring's all-gather.
    public static final String RING = AllToAllSpec.RING;

    private static final double US_PER_MS = 1e3;

    private static final Table<AllToAllRow> TABLE = new Table<AllToAllRow>()
            .field("scheme", AllToAllRow::scheme)
            .field("processes", AllToAllRow::processes)
            .field("frame_bytes", AllToAllRow::frameBytes)
            .field("single_us", row -> AllToAllRow.median(row.singleUs()))
            .field("several_us", row -> AllToAllRow.median(row.severalUs()))
            .field("overlap", AllToAllRow::overlap)
            .field("overlap_of_links", AllToAllRow::overlapOfLinks)
            .field("predicted_us", AllToAllRow::predictedUs)
            .field("relative_error", AllToAllRow::error)
            .field("goodput_MBps", row -> AllToAllRow.median(row.goodputMBps()))
            .field("receiver_link_share", row -> AllToAllRow.median(row.linkShare()))
            .field("sent_bytes_per_byte", row -> AllToAllRow.median(row.sentPerByte()))
            .field("sent_of_unicast", AllToAllRow::ofUnicast)
            .field("cpu_share", row -> AllToAllRow.median(row.busyShare()))
            .field("failures", AllToAllRow::failures)
            .left(1)
            .column("scheme", AllToAllRow::scheme)
            .column("processes", row -> Integer.toString(row.processes()))
            .column("one ms", row -> Table.decimal(AllToAllRow.median(row.singleUs()) / US_PER_MS, 2))
            .column("all ms", row -> Table.decimal(AllToAllRow.median(row.severalUs()) / US_PER_MS, 2))
            .column("overlap", row -> Table.decimal(row.overlap(), 2))
            .column("eq. 9 ms", row -> Table.decimal(row.predictedUs() / US_PER_MS, 2))
            .column("error", row -> Table.decimal(row.error(), 2))
            .column("MB/s each", row -> Table.decimal(AllToAllRow.median(row.goodputMBps()), 1))
            .column("of link", row -> Table.decimal(AllToAllRow.median(row.linkShare()), 2))
            .column("sent B/B", row -> Table.decimal(AllToAllRow.median(row.sentPerByte()), 2))
            .column("of unicast", row -> Table.decimal(row.ofUnicast(), 2))
            .column("CPU", row -> Table.decimal(AllToAllRow.median(row.busyShare()), 2));

    private AllToAllBench() {}

    /// A run as asked for.
    ///
    /// @param schemes [#MULTICAST], [#RING]
    /// @param device where frames are received
    /// @param netBytesPerSecond of each link; 0 for as much as the machine carries
    public record Plan(
            List<String> schemes,
            List<Integer> processes,
            String device,
            int frameBytes,
            int chunkBytes,
            BenchNet net,
            int mtuBytes,
            long netBytesPerSecond,
            int rounds,
            double seconds) {
        int processesMax() {
            return processes.stream().mapToInt(Integer::intValue).max().orElse(2);
        }
    }

    /// @return the tool's exit status
    public static int run(final ToolContext context, final Plan plan, final Output output) throws InterruptedException {
        final MachineInfo machine = MachineInfo.read();
        machine.announce(context::line);
        final Map<String, @Nullable Object> head = new LinkedHashMap<>();
        head.put("bench", "all-to-all");
        head.put("machine", machine.json());
        head.put("net", plan.net.label());
        head.put("net_MBps", plan.netBytesPerSecond == 0 ? null : plan.netBytesPerSecond / 1e6);
        head.put("mtu", plan.mtuBytes == 0 ? null : plan.mtuBytes);
        head.put("device", plan.device);
        head.put("chunk_bytes", plan.chunkBytes);
        try (AllToAllRun run = new AllToAllRun(plan, context::line)) {
            context.onStop(run::close);
            final List<AllToAllRow> rows = run.measure();
            final String text = String.format(
                    Locale.ROOT,
                    "Frames of %s: one ms, a broadcast of one process; all ms, one of each at once; eq. 9 with the overlap"
                            + " that links leave, 1/n.%n",
                    Texts.bytes(plan.frameBytes));
            output.write("all-to-all", head, TABLE, rows, text, figures(rows));
            return output.status(
                    run.haveFramesDiffered(),
                    rows.stream()
                            .filter(row -> row.scheme().equals(AllToAllSpec.MULTICAST))
                            .flatMap(row -> row.failures().stream())
                            .toList());
        }
    }

    // As figures 9 and 13 of Chu et al. 2019.
    private static List<Figure> figures(final List<AllToAllRow> rows) {
        final List<Figure.Value> values = new ArrayList<>();
        for (final AllToAllRow row : rows) {
            final String category = Integer.toString(row.processes());
            values.add(new Figure.Value(
                    row.scheme(), category, Statistics.of(row.severalUs()).per(US_PER_MS)));
            values.add(new Figure.Value(
                    row.scheme() + ", eq. 9",
                    category,
                    Statistics.of(List.of(row.predictedUs())).per(US_PER_MS)));
        }
        return List.of(
                Figure.of("all-to-all", "One broadcast of each process at once", "processes", "ms", values, true));
    }
}
