package io.framecast.perf.report;

import io.framecast.perf.bench.BenchCase;
import io.framecast.perf.bench.BenchReport;
import io.framecast.perf.bench.BenchRow;
import io.framecast.perf.bench.RoundResult;
import io.framecast.perf.bench.Statistics;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// A run as a table for people.
public final class TextTable {
    /// The columns, also of the page.
    static final List<String> COLUMNS = List.of(
            "system",
            "MB/s",
            "spread",
            "CPU s/GB",
            "p50 ms",
            "p99 ms",
            "p99.9 ms",
            "overhead",
            "lost",
            "/ floor",
            "/ aeron",
            "/ tcp");

    private static final double US_PER_MS = 1e3;
    private static final String UNKNOWN = "–";

    private TextTable() {}

    /// Cases one below the other, systems within them.
    public static String of(final BenchReport report) {
        final List<List<String>> lines = new ArrayList<>();
        lines.add(COLUMNS);
        report.rows().forEach(row -> lines.add(cells(row)));
        final int[] widths = new int[COLUMNS.size()];
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

    static List<String> cells(final BenchRow row) {
        final Statistics goodput = row.of(RoundResult::goodputMBps);
        return List.of(
                row.transport(),
                decimal(goodput.median(), 1),
                Double.isNaN(goodput.median()) ? UNKNOWN : decimal(goodput.min(), 0) + "–" + decimal(goodput.max(), 0),
                decimal(row.median(RoundResult::cpuSecondsPerGB), 3),
                decimal(row.median(RoundResult::p50Us) / US_PER_MS, 3),
                decimal(row.median(RoundResult::p99Us) / US_PER_MS, 3),
                decimal(row.median(RoundResult::p999Us) / US_PER_MS, 3),
                percent(row.median(RoundResult::overhead)),
                row.failures().isEmpty()
                        ? Long.toString(row.lostFrames())
                        : row.failures().size() + " failed",
                decimal(row.ratioToFloor(), 2),
                decimal(row.ratioToAeron(), 2),
                decimal(row.ratioToTcp(), 2));
    }

    private static String percent(final double share) {
        return Double.isNaN(share) ? UNKNOWN : decimal(share * 100, 2) + " %";
    }

    private static String decimal(final double value, final int places) {
        return Double.isNaN(value) ? UNKNOWN : String.format(Locale.ROOT, "%." + places + "f", value);
    }
}
