package io.framecast.perf.table;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Rows with named fields, for JSON and CSV, and with titled columns, for people.
///
/// A field's value is a number, a text, a boolean, null, a map, or a list. A number that is not finite becomes
/// null; others keep six places. In CSV (RFC 4180) a map becomes a field for each of its parts, and a list its
/// length.
public final class Table<R> {
    /// Text of a column's cell that says nothing.
    public static final String UNKNOWN = "–";

    private static final double PLACES = 1e6;
    private static final String LINE_END = "\r\n";

    private final Map<String, Function<R, @Nullable Object>> fields = new LinkedHashMap<>();
    private final Map<String, Function<R, String>> columns = new LinkedHashMap<>();
    private Function<R, String> groups = _ -> "";
    private int leftColumns = 1;

    public Table<R> field(final String name, final Function<R, @Nullable Object> value) {
        fields.put(name, value);
        return this;
    }

    public Table<R> column(final String title, final Function<R, String> text) {
        columns.put(title, text);
        return this;
    }

    /// A field, and a column of its text.
    public Table<R> both(final String name, final String title, final Function<R, @Nullable Object> value) {
        return field(name, value).column(title, row -> String.valueOf(value.apply(row)));
    }

    /// A field, and a column of it with some places.
    public Table<R> both(final String name, final String title, final int places, final ToDoubleFunction<R> value) {
        return field(name, value::applyAsDouble).column(title, row -> decimal(value.applyAsDouble(row), places));
    }

    /// Rows of one group stand below a line of its name.
    public Table<R> groupedBy(final Function<R, String> name) {
        groups = name;
        return this;
    }

    /// How many columns are aligned to the left; 1 unless said otherwise.
    public Table<R> left(final int count) {
        leftColumns = count;
        return this;
    }

    String group(final R row) {
        return groups.apply(row);
    }

    /// The columns that say something about some row.
    Map<String, Function<R, String>> columns(final List<R> rows) {
        final Map<String, Function<R, String>> some = new LinkedHashMap<>(columns);
        some.values()
                .removeIf(column ->
                        rows.stream().allMatch(row -> column.apply(row).equals(UNKNOWN)));
        return some;
    }

    /// Groups one below the other, rows within them.
    public String text(final List<R> rows) {
        final Map<String, Function<R, String>> some = columns(rows);
        final List<List<String>> lines = new ArrayList<>(List.of(List.copyOf(some.keySet())));
        rows.forEach(row -> lines.add(
                some.values().stream().map(column -> column.apply(row)).toList()));
        final int[] widths = new int[some.size()];
        for (final List<String> line : lines) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], line.get(i).length());
            }
        }
        final StringBuilder text = new StringBuilder();
        String last = "";
        for (int i = 0; i < lines.size(); i++) {
            final String group = i == 0 ? "" : group(rows.get(i - 1));
            text.append(group.equals(last) ? "" : group + "\n");
            last = group;
            for (int column = 0; column < widths.length; column++) {
                final String cell = lines.get(i).get(column);
                final String space = " ".repeat(widths[column] - cell.length());
                text.append("  ").append(column < leftColumns ? cell + space : space + cell);
            }
            text.append('\n');
        }
        return text.toString().stripTrailing();
    }

    public List<Map<String, @Nullable Object>> json(final List<R> rows) {
        return rows.stream().map(this::json).toList();
    }

    public Map<String, @Nullable Object> json(final R row) {
        final Map<String, @Nullable Object> json = new LinkedHashMap<>();
        fields.forEach((name, value) -> json.put(name, plain(value.apply(row))));
        return json;
    }

    private static @Nullable Object plain(final @Nullable Object value) {
        return switch (value) {
            case Double number -> Double.isFinite(number) ? Math.rint(number * PLACES) / PLACES : null;
            case Map<?, ?> map -> {
                final Map<Object, @Nullable Object> parts = new LinkedHashMap<>();
                map.forEach((name, part) -> parts.put(name, plain(part)));
                yield parts;
            }
            case null, default -> value;
        };
    }

    /// A line of names, and a line for each row.
    public String csv(final List<R> rows) {
        final StringBuilder text = new StringBuilder();
        for (final R row : rows) {
            final Map<String, @Nullable Object> flat = new LinkedHashMap<>();
            json(row).forEach((name, value) -> {
                if (value instanceof Map<?, ?> parts) {
                    parts.forEach((part, inner) -> flat.put(name + "_" + part, inner));
                } else {
                    flat.put(name, value instanceof List<?> list ? (Object) list.size() : value);
                }
            });
            text.append(text.isEmpty() ? String.join(",", flat.keySet()) + LINE_END : "");
            text.append(flat.values().stream().map(Table::csv).collect(Collectors.joining(",")))
                    .append(LINE_END);
        }
        return text.toString();
    }

    /// One field of CSV; empty for null.
    static String csv(final @Nullable Object value) {
        final String text = value == null ? "" : value.toString();
        return text.matches("(?s).*[,\"\r\n].*") ? '"' + text.replace("\"", "\"\"") + '"' : text;
    }

    /// A cell of some places; [#UNKNOWN] where the value is not finite.
    public static String decimal(final double value, final int places) {
        return Double.isFinite(value) ? String.format(Locale.ROOT, "%." + places + "f", value) : UNKNOWN;
    }
}
