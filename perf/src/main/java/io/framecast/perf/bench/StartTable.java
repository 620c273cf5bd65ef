package io.framecast.perf.bench;

import io.framecast.perf.table.Figure;
import io.framecast.perf.table.Statistics;
import io.framecast.perf.table.Table;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/// The fields, columns and figures of the rows of `bench start`.
final class StartTable {
    static final Table<BenchRow> TABLE = new Table<BenchRow>()
            .groupedBy(row -> row.setting().text())
            .both("system", "system", BenchRow::label)
            .field("net", row -> row.setting().net().label())
            .field("mtu", row -> row.setting().mtuBytes())
            .field("offload", row -> row.setting().offload())
            .field("receivers", row -> row.setting().receivers())
            .field("frame_bytes", row -> row.setting().frameBytes())
            .field("offered_fps", row -> row.setting().framesPerSecond())
            .both(
                    "first_frame_s",
                    "first frame s",
                    2,
                    row -> row.median(round -> round.start().firstFrameSeconds()))
            .both("goodput_after_2s_MBps", "MB/s after 2 s", 0, row -> after(row, 2))
            .both("goodput_after_4s_MBps", "after 4 s", 0, row -> after(row, 4))
            .field("steady_MBps", row -> row.median(StartTable::steady))
            .column("steady", row -> row.medianOrFailures(StartTable::steady))
            .both("share_after_2s", "share after 2 s", 2, row -> shareAfter(row, 2))
            .both("share_after_4s", "after 4 s ", 2, row -> shareAfter(row, 4))
            .both("floor_share_after_2s", "of floor after 2 s", 2, row -> row.ratio(BenchRows.floorShare(2)))
            .field("floor_share_after_4s", row -> row.ratio(BenchRows.floorShare(4)))
            .both("compile_s_after_2s", "compile s in 2 s", 1, StartTable::compiled)
            .field("rounds", row -> row.rounds().size())
            .field("failures", BenchRow::failures)
            .field("windows", StartTable::windows);

    private StartTable() {}

    private static double steady(final RoundResult round) {
        return round.start().steadyMBps();
    }

    private static double after(final BenchRow row, final double seconds) {
        return row.median(round -> round.start().goodputAfter(seconds));
    }

    private static double shareAfter(final BenchRow row, final double seconds) {
        return row.median(round -> Statistics.ratio(round.start().goodputAfter(seconds), steady(round)));
    }

    // In the first two seconds.
    private static double compiled(final BenchRow row) {
        return row.median(round -> round.start().windows().stream()
                .limit(Math.round(2 / StartWindows.SECONDS))
                .mapToDouble(StartWindows.Window::compileSeconds)
                .sum());
    }

    private static int windowCount(final BenchRow row) {
        return row.results().stream()
                .mapToInt(round -> round.start().windows().size())
                .min()
                .orElse(0);
    }

    private static Statistics window(
            final BenchRow row, final int index, final ToDoubleFunction<StartWindows.Window> figure) {
        return Statistics.of(row.results().stream()
                .map(round -> figure.applyAsDouble(round.start().windows().get(index)))
                .toList());
    }

    private static List<Map<String, Object>> windows(final BenchRow row) {
        final List<Map<String, Object>> windows = new ArrayList<>();
        for (int i = 0; i < windowCount(row); i++) {
            final Map<String, Object> window = new LinkedHashMap<>();
            window.put("from_s", i * StartWindows.SECONDS);
            window.put(
                    "goodput_MBps",
                    window(row, i, StartWindows.Window::goodputMBps).median());
            window.put("p99_us", window(row, i, StartWindows.Window::p99Us).median());
            window.put(
                    "compile_s",
                    window(row, i, StartWindows.Window::compileSeconds).median());
            windows.add(window);
        }
        return windows;
    }

    /// A figure for each case: goodput window by window.
    static List<Figure> figures(final List<BenchRow> rows) {
        final List<BenchCase> settings =
                rows.stream().map(BenchRow::setting).distinct().toList();
        return settings.stream()
                .map(setting -> Figure.of(
                        "start" + (settings.size() == 1 ? "" : "-" + (settings.indexOf(setting) + 1)),
                        setting.text(),
                        "seconds after the first frame",
                        "MB/s",
                        rows.stream()
                                .filter(row -> row.setting().equals(setting))
                                .flatMap(row ->
                                        IntStream.range(0, windowCount(row)).mapToObj(i -> value(row, i)))
                                .toList(),
                        true))
                .toList();
    }

    private static Figure.Value value(final BenchRow row, final int index) {
        return new Figure.Value(
                row.label(),
                String.format(Locale.ROOT, "%.2f", index * StartWindows.SECONDS),
                window(row, index, StartWindows.Window::goodputMBps));
    }
}
