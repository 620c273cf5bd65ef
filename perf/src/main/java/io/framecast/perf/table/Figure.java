package io.framecast.perf.table;

import java.util.ArrayList;
import java.util.Collections;
import java.util.DoubleSummaryStatistics;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// A plot: values of some series over common categories.
///
/// @param id of its files
/// @param series by name; NaN where there is no value
/// @param lines whether categories are steps of a quantity, which lines join; else bars stand side by side
public record Figure(
        String id,
        String title,
        String xTitle,
        String yTitle,
        List<String> categories,
        Map<String, List<Statistics>> series,
        boolean lines) {
    // Beyond this ratio of the highest to the lowest value the axis is logarithmic.
    private static final double WIDE = 30;

    /// One value of a plot's rows.
    ///
    /// @param series its name
    public record Value(String series, String category, Statistics statistics) {}

    /// Series and categories in the order in which the values name them.
    public static Figure of(
            final String id,
            final String title,
            final String xTitle,
            final String yTitle,
            final List<Value> values,
            final boolean areSteps) {
        final List<String> categories =
                values.stream().map(Value::category).distinct().toList();
        final Map<String, List<Statistics>> series = new LinkedHashMap<>();
        for (final Value value : values) {
            series.computeIfAbsent(
                            value.series, _ -> new ArrayList<>(Collections.nCopies(categories.size(), Statistics.NONE)))
                    .set(categories.indexOf(value.category), value.statistics);
        }
        return new Figure(id, title, xTitle, yTitle, categories, series, areSteps && categories.size() > 1);
    }

    /// Whether the values span powers of ten.
    public boolean isLogarithmic() {
        final DoubleSummaryStatistics known = known();
        return known.getMax() > WIDE * known.getMin();
    }

    /// The values above 0.
    DoubleSummaryStatistics known() {
        return series.values().stream()
                .flatMap(List::stream)
                .mapToDouble(Statistics::median)
                .filter(value -> value > 0)
                .summaryStatistics();
    }

    /// Whether there is nothing to draw.
    public boolean isEmpty() {
        return series.values().stream().flatMap(List::stream).allMatch(value -> Double.isNaN(value.median()));
    }
}
