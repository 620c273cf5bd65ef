package io.framecast.perf.table;

import java.util.Collection;
import java.util.List;

/// Median and spread of some values. NaN where there is none.
///
/// @param q1 a quarter of the values is not above it
/// @param q3 a quarter of the values is not below it
public record Statistics(double min, double q1, double median, double q3, double max) {

    public static final Statistics NONE = of(List.of());

    /// NaN among the values is left out.
    public static Statistics of(final Collection<Double> values) {
        final double[] sorted = values.stream()
                .mapToDouble(Double::doubleValue)
                .filter(value -> !Double.isNaN(value))
                .sorted()
                .toArray();
        return new Statistics(
                quantile(sorted, 0),
                quantile(sorted, 0.25),
                quantile(sorted, 0.5),
                quantile(sorted, 0.75),
                quantile(sorted, 1));
    }

    /// Between the two values next to a quantile in proportion (Hyndman and Fan's type 7, as most programs do).
    private static double quantile(final double[] sorted, final double share) {
        if (sorted.length == 0) {
            return Double.NaN;
        }
        final double at = share * (sorted.length - 1);
        final int below = (int) at;
        final int above = Math.min(below + 1, sorted.length - 1);
        return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
    }

    /// NaN where either is unknown or there is nothing to divide by.
    public static double ratio(final double value, final double by) {
        return by > 0 ? value / by : Double.NaN;
    }

    /// In a unit so many times as large.
    public Statistics per(final double unit) {
        return new Statistics(min / unit, q1 / unit, median / unit, q3 / unit, max / unit);
    }

    /// `min–max` for a table.
    public String range() {
        return Double.isNaN(median) ? Table.UNKNOWN : Table.decimal(min, 0) + "–" + Table.decimal(max, 0);
    }
}
