package io.framecast.perf.bench;

import io.framecast.perf.table.Figure;
import io.framecast.perf.table.RoundsRow;
import io.framecast.perf.table.Statistics;
import io.framecast.perf.table.Table;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.IntStream;

/// How one system starts in one case.
///
/// @param floorMBps steady goodput of the floor in the same case; NaN where it was not measured
record StartRow(BenchCase setting, BenchSystem system, List<StartRound> rounds, double floorMBps)
        implements RoundsRow<StartRound> {
    static final Table<StartRow> TABLE = new Table<StartRow>()
            .groupedBy(row -> row.setting.text())
            .field("system", StartRow::name)
            .field("net", row -> row.setting.net().label())
            .field("mtu", row -> row.setting.mtuBytes())
            .field("offload", row -> row.setting.offload())
            .field("receivers", row -> row.setting.receivers())
            .field("frame_bytes", row -> row.setting.frameBytes())
            .field("offered_fps", row -> row.setting.framesPerSecond())
            .field("first_frame_s", row -> row.median(StartRound::firstFrameSeconds))
            .field("steady_MBps", row -> row.median(StartRound::steadyMBps))
            .field("goodput_after_2s_MBps", row -> row.after(2))
            .field("goodput_after_4s_MBps", row -> row.after(4))
            .field("share_after_2s", row -> row.shareAfter(2))
            .field("share_after_4s", row -> row.shareAfter(4))
            .field("floor_share_after_2s", row -> Statistics.ratio(row.after(2), row.floorMBps))
            .field("floor_share_after_4s", row -> Statistics.ratio(row.after(4), row.floorMBps))
            .field("compile_s_after_2s", row -> row.compiled(2))
            .field("rounds", row -> row.rounds.size())
            .field("failures", StartRow::failures)
            .field("windows", StartRow::windows)
            .column("system", StartRow::name)
            .column("first frame s", row -> Table.decimal(row.median(StartRound::firstFrameSeconds), 2))
            .column("MB/s after 2 s", row -> Table.decimal(row.after(2), 0))
            .column("after 4 s", row -> Table.decimal(row.after(4), 0))
            .column("steady", row -> row.medianOrFailures(StartRound::steadyMBps))
            .column("share after 2 s", row -> Table.decimal(row.shareAfter(2), 2))
            .column("after 4 s ", row -> Table.decimal(row.shareAfter(4), 2))
            .column("of floor after 2 s", row -> Table.decimal(Statistics.ratio(row.after(2), row.floorMBps), 2))
            .column("compile s in 2 s", row -> Table.decimal(row.compiled(2), 1));

    String name() {
        return system.label(first(StartRound::transport).orElse(system.transport()));
    }

    private double after(final double seconds) {
        return median(round -> round.goodputAfter(seconds));
    }

    private double shareAfter(final double seconds) {
        return median(round -> Statistics.ratio(round.goodputAfter(seconds), round.steadyMBps()));
    }

    private double compiled(final double seconds) {
        return median(round -> round.windows().stream()
                .limit(Math.round(seconds / StartRound.WINDOW_SECONDS))
                .mapToDouble(StartRound.Window::compileSeconds)
                .sum());
    }

    private int windowCount() {
        return rounds.stream()
                .filter(round -> !round.hasFailed())
                .mapToInt(round -> round.windows().size())
                .min()
                .orElse(0);
    }

    private Statistics window(final int index, final Function<StartRound.Window, Double> figure) {
        return Statistics.of(rounds.stream()
                .filter(round -> !round.hasFailed())
                .map(round -> figure.apply(round.windows().get(index)))
                .toList());
    }

    private List<Map<String, Object>> windows() {
        final List<Map<String, Object>> windows = new ArrayList<>();
        for (int i = 0; i < windowCount(); i++) {
            final Map<String, Object> window = new LinkedHashMap<>();
            window.put("from_s", i * StartRound.WINDOW_SECONDS);
            window.put("goodput_MBps", window(i, StartRound.Window::goodputMBps).median());
            window.put("p99_us", window(i, StartRound.Window::p99Us).median());
            window.put("compile_s", window(i, StartRound.Window::compileSeconds).median());
            windows.add(window);
        }
        return windows;
    }

    /// A figure for each case: goodput window by window.
    static List<Figure> figures(final List<StartRow> rows) {
        final List<BenchCase> settings =
                rows.stream().map(StartRow::setting).distinct().toList();
        return IntStream.range(0, settings.size())
                .mapToObj(i -> {
                    final List<Figure.Value> values = new ArrayList<>();
                    rows.stream()
                            .filter(row -> row.setting.equals(settings.get(i)))
                            .forEach(row -> IntStream.range(0, row.windowCount())
                                    .mapToObj(at -> new Figure.Value(
                                            row.name(),
                                            String.format(Locale.ROOT, "%.2f", at * StartRound.WINDOW_SECONDS),
                                            row.window(at, StartRound.Window::goodputMBps)))
                                    .forEach(values::add));
                    return Figure.of(
                            "start" + (settings.size() == 1 ? "" : "-" + (i + 1)),
                            settings.get(i).text(),
                            "seconds after the first frame",
                            "MB/s",
                            values,
                            true);
                })
                .toList();
    }
}
