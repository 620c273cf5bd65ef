package io.framecast.perf.bench;

import io.framecast.perf.harness.BenchNet;
import io.framecast.perf.harness.DeviceChoice;
import io.framecast.perf.table.Figure;
import io.framecast.perf.table.Table;
import io.framecast.perf.table.Texts;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/// The fields, columns and figures of the rows of `bench node`.
final class NodeTable {
    private static final double MEBI = 1 << 20;
    private static final double US_PER_MS = 1e3;
    private static final String SUBSCRIBERS = "subscribers on the host";

    static final Table<BenchRow> TABLE = new Table<BenchRow>()
            .groupedBy(NodeTable::group)
            .left(3)
            .both("scheme", "scheme", NodeTable::scheme)
            .both("source", "source", NodeTable::source)
            .both("placement", "placement", NodeTable::placement)
            .both("subscribers", "subscribers", row -> row.setting().receivers())
            .field("device", row -> row.setting().readers().device())
            .field("emulated", NodeTable::isEmulated)
            .field("frame_bytes", row -> row.setting().frameBytes())
            .field("offered_fps", row -> row.setting().framesPerSecond())
            .field("mtu", row -> row.setting().mtuBytes())
            .field("link_MBps", row -> row.setting().readers().linkBytesPerSecond() / 1e6)
            .field("background_MBps", row -> row.setting().readers().backgroundBytesPerSecond() / 1e6)
            .field("goodput_MBps", row -> row.median(RoundResult::goodputMBps))
            .column("MB/s", row -> row.medianOrFailures(RoundResult::goodputMBps))
            .field("goodput_MBps_min", row -> row.of(RoundResult::goodputMBps).min())
            .field("goodput_MBps_max", row -> row.of(RoundResult::goodputMBps).max())
            .column("spread", row -> row.of(RoundResult::goodputMBps).range())
            .field("subscriber_cpu_s_per_GB", row -> row.median(NodeTable::cpu))
            .column(
                    "CPU s/GB",
                    row -> Table.decimal(
                            row.setting().framesPerSecond() > 0 ? Double.NaN : row.median(NodeTable::cpu), 3))
            .field("source_cpu_us_per_frame", row -> row.median(RoundResult::sourceCpuUsPerFrame))
            .both(
                    "datagrams_read",
                    "datagrams read",
                    0,
                    row -> row.median(round -> round.onHost().datagramsRead()))
            .both("datagrams_read_per_sent", "per sent", 2, row -> row.median(NodeTable::datagrams))
            .field("memory_bytes", row -> row.median(NodeTable::memory))
            .column("memory MiB", row -> Table.decimal(row.median(NodeTable::memory) / MEBI, 0))
            .both("p50_us", "p50 µs", 0, row -> row.median(RoundResult::p50Us))
            .both("p99_us", "p99 µs", 0, row -> row.median(RoundResult::p99Us))
            .field("lost_frames", BenchRow::lostFrames)
            .field("compiling_share", row -> row.median(RoundResult::compilingShare))
            .field("rounds", row -> row.rounds().size())
            .field("failures", BenchRow::failures);

    private NodeTable() {}

    private static double cpu(final RoundResult round) {
        return round.onHost().cpuSecondsPerGB();
    }

    private static double datagrams(final RoundResult round) {
        return round.onHost().datagramsPerSent();
    }

    private static double memory(final RoundResult round) {
        return round.onHost().memoryBytes();
    }

    static String scheme(final BenchRow row) {
        return row.system().equals(BenchSystem.framecast("udp"))
                ? NodeOptions.INDEPENDENT
                : row.system().name();
    }

    private static String source(final BenchRow row) {
        return row.system().isLocal() ? "local" : row.setting().net() == BenchNet.LOOPBACK ? "loopback" : "remote";
    }

    private static String placement(final BenchRow row) {
        return row.first(round -> round.onHost().placement()).orElse(Table.UNKNOWN);
    }

    private static boolean isEmulated(final BenchRow row) {
        return row.setting().readers().device().startsWith(DeviceChoice.EMULATED);
    }

    // Subscribers are a column.
    private static String group(final BenchRow row) {
        return row.setting().text().replaceFirst("^\\w+, ", "").replaceFirst("\\d+ receivers?, ", "");
    }

    /// Latency by length of frames, as in Chu et al. 2019, figure 6, where several were measured at one rate.
    /// Goodput by number of subscribers, alone and beside other copies, as in their figure 11, where as many frames
    /// were carried as were taken. Titles say where devices are emulated.
    static List<Figure> figures(final List<BenchRow> rows) {
        final List<Figure> figures = new ArrayList<>();
        titled(
                        rows,
                        row -> row.setting().framesPerSecond() > 0,
                        row -> row.setting().receiversText())
                .forEach((title, some) -> {
                    if (some.stream()
                                    .map(row -> row.setting().frameBytes())
                                    .distinct()
                                    .count()
                            > 1) {
                        figures.add(figure(
                                "latency-" + figures.size(),
                                "Latency of a frame, " + title,
                                "frame",
                                "ms",
                                some,
                                row -> Texts.bytes(row.setting().frameBytes()),
                                round -> round.p50Us() / US_PER_MS));
                    }
                });
        titled(
                        rows,
                        row -> row.setting().framesPerSecond() == 0,
                        row -> Texts.bytes(row.setting().frameBytes()))
                .forEach((title, some) -> {
                    figures.add(figure(
                            "goodput-" + figures.size(),
                            "Goodput to each subscriber, " + title,
                            SUBSCRIBERS,
                            "MB/s",
                            some,
                            row -> Integer.toString(row.setting().receivers()),
                            RoundResult::goodputMBps));
                    figures.add(figure(
                            "cpu-" + figures.size(),
                            "CPU of the subscribers, " + title,
                            SUBSCRIBERS,
                            "s/GB",
                            some,
                            row -> Integer.toString(row.setting().receivers()),
                            NodeTable::cpu));
                });
        return figures;
    }

    private static Map<String, List<BenchRow>> titled(
            final List<BenchRow> rows, final Predicate<BenchRow> which, final Function<BenchRow, String> aspect) {
        return rows.stream()
                .filter(which)
                .collect(Collectors.groupingBy(
                        row -> aspect.apply(row) + ", " + row.setting().net().label() + ", device "
                                + row.setting().readers().device() + (isEmulated(row) ? " (emulated)" : ""),
                        LinkedHashMap::new,
                        Collectors.toList()));
    }

    private static Figure figure(
            final String id,
            final String title,
            final String xTitle,
            final String unit,
            final List<BenchRow> rows,
            final Function<BenchRow, String> category,
            final ToDoubleFunction<RoundResult> figure) {
        final List<Figure.Value> values = rows.stream()
                .map(row -> new Figure.Value(series(row), category.apply(row), row.of(figure)))
                .toList();
        return Figure.of("node-" + id, title, xTitle, unit, values, true);
    }

    private static String series(final BenchRow row) {
        return scheme(row) + (row.setting().readers().backgroundBytesPerSecond() > 0 ? ", streaming" : "");
    }
}
