package io.framecast.perf.bench;

import java.util.Arrays;
import java.util.Collection;

/// Median and spread of some values. NaN where there is none.
///
/// @param q1 a quarter of the values is not above it
/// @param q3 a quarter of the values is not below it
public record Statistics(double min, double q1, double median, double q3, double max) {

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
    static double quantile(final double[] sorted, final double share) {
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

    static double median(final double... values) {
        return of(Arrays.stream(values).boxed().toList()).median;
    }
}
