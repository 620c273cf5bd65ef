package io.framecast.perf.report;

import io.framecast.perf.bench.BenchCase;
import io.framecast.perf.bench.BenchReport;
import io.framecast.perf.bench.BenchRow;
import io.framecast.perf.bench.RoundResult;
import io.framecast.perf.bench.Statistics;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/// A run as a table for people.
public final class TextTable {
    /// One column, also of the page.
    record Column(String title, Function<BenchRow, String> cell) {}

    private static final double US_PER_MS = 1e3;
    private static final double MANY = 100;
    private static final String UNKNOWN = "–";

    private static final List<Column> ALL = List.of(
            new Column("system", BenchRow::transport),
            new Column("MB/s", row -> decimal(row.median(RoundResult::goodputMBps), 1)),
            new Column("spread", TextTable::spread),
            new Column("frames/s", row -> rate(row.median(RoundResult::messagesPerSecond))),
            new Column("CPU s/GB", row -> decimal(row.median(RoundResult::cpuSecondsPerGB), 3)),
            new Column("src µs/frame", row -> decimal(row.median(RoundResult::sourceCpuUsPerFrame), 1)),
            new Column("p50 ms", row -> milliseconds(row.median(RoundResult::p50Us))),
            new Column("p99 ms", row -> milliseconds(row.median(RoundResult::p99Us))),
            new Column("p99.9 ms", row -> milliseconds(row.median(RoundResult::p999Us))),
            new Column("overhead", row -> percent(row.median(RoundResult::overhead))),
            new Column("wire B/B", row -> decimal(row.median(RoundResult::wireBytesPerByte), 3)),
            new Column("lost", TextTable::lost),
            new Column("/ floor", row -> decimal(row.ratios().toFloor(), 2)),
            new Column("/ aeron", row -> decimal(row.ratios().toAeron(), 2)),
            new Column("/ tcp", row -> decimal(row.ratios().toTcp(), 2)),
            new Column("/ clean", row -> decimal(row.ratios().toClean(), 2)),
            new Column("/ alone", row -> decimal(row.ratios().beside().toAlone(), 3)),
            new Column("/ healthy", row -> decimal(row.ratios().beside().toHealthy(), 3)),
            new Column("CPU / aeron", row -> decimal(row.ratios().cpu().toAeron(), 2)));

    private TextTable() {}

    /// Those that say something about some row.
    static List<Column> columns(final List<BenchRow> rows) {
        return ALL.stream()
                .filter(column ->
                        rows.stream().anyMatch(row -> !column.cell.apply(row).equals(UNKNOWN)))
                .toList();
    }

    /// Cases one below the other, systems within them.
    public static String of(final BenchReport report) {
        final List<Column> columns = columns(report.rows());
        final List<List<String>> lines = new ArrayList<>();
        lines.add(columns.stream().map(Column::title).toList());
        report.rows()
                .forEach(row -> lines.add(
                        columns.stream().map(column -> column.cell.apply(row)).toList()));
        final int[] widths = new int[columns.size()];
        for (final List<String> line : lines) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], line.get(i).length());
            }
        }
        final StringBuilder text = new StringBuilder();
        BenchCase last = null;
        for (int i = 0; i < lines.size(); i++) {
            if (i > 0) {
                final BenchCase setting = report.rows().get(i - 1).setting();
                if (!setting.equals(last)) {
                    text.append(setting.text()).append('\n');
                    last = setting;
                }
            }
            append(text, lines.get(i), widths);
        }
        return text.toString().stripTrailing();
    }

    private static void append(final StringBuilder text, final List<String> cells, final int[] widths) {
        for (int i = 0; i < widths.length; i++) {
            final String cell = cells.get(i);
            final String space = " ".repeat(widths[i] - cell.length());
            // The name to the left, numbers to the right.
            text.append("  ").append(i == 0 ? cell + space : space + cell);
        }
        text.append('\n');
    }

    private static String spread(final BenchRow row) {
        final Statistics goodput = row.of(RoundResult::goodputMBps);
        return Double.isNaN(goodput.median()) ? UNKNOWN : decimal(goodput.min(), 0) + "–" + decimal(goodput.max(), 0);
    }

    private static String lost(final BenchRow row) {
        return row.failures().isEmpty()
                ? Long.toString(row.lostFrames())
                : row.failures().size() + " failed";
    }

    private static String rate(final double perSecond) {
        return decimal(perSecond, perSecond < MANY ? 1 : 0);
    }

    private static String milliseconds(final double us) {
        return decimal(us / US_PER_MS, 3);
    }

    private static String percent(final double share) {
        return Double.isNaN(share) ? UNKNOWN : decimal(share * 100, 2) + " %";
    }

    private static String decimal(final double value, final int places) {
        return Double.isNaN(value) ? UNKNOWN : String.format(Locale.ROOT, "%." + places + "f", value);
    }
}
