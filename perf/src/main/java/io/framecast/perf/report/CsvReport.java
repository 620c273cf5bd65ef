package io.framecast.perf.report;

import io.framecast.perf.bench.BenchReport;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// A run as CSV (RFC 4180): a line of names, then a line per row; a field is empty where nothing is known.
public final class CsvReport {
    private static final String LINE_END = "\r\n";

    private CsvReport() {}

    static String of(final BenchReport report) {
        final List<Map<String, @Nullable Object>> rows = JsonReport.flatRows(report);
        final StringBuilder text = new StringBuilder();
        if (!rows.isEmpty()) {
            text.append(String.join(",", rows.getFirst().keySet())).append(LINE_END);
        }
        for (final Map<String, @Nullable Object> row : rows) {
            text.append(row.values().stream().map(CsvReport::field).collect(Collectors.joining(",")))
                    .append(LINE_END);
        }
        return text.toString();
    }

    /// One field; empty for null.
    public static String field(final @Nullable Object value) {
        final String text = value == null ? "" : value.toString();
        return text.matches("(?s).*[,\"\r\n].*") ? '"' + text.replace("\"", "\"\"") + '"' : text;
    }
}
