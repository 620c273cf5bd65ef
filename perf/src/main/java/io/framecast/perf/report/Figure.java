package io.framecast.perf.report;

import java.util.List;

/// A plot: values of some series over common categories.
///
/// @param id of its files
/// @param lines whether categories are steps of a quantity, which lines join; else bars stand side by side
/// @param logarithmic whether the values span powers of ten
public record Figure(
        String id,
        String title,
        String xTitle,
        String yTitle,
        List<String> categories,
        List<Series> series,
        boolean lines,
        boolean logarithmic) {

    /// One system.
    ///
    /// @param points one per category
    public record Series(String name, List<Point> points) {}

    /// A median with its quartiles; NaN where there is none.
    public record Point(double value, double low, double high) {
        public static final Point NONE = new Point(Double.NaN, Double.NaN, Double.NaN);

        boolean isKnown() {
            return Double.isFinite(value);
        }
    }

    double highest() {
        return series.stream()
                .flatMap(one -> one.points.stream())
                .filter(Point::isKnown)
                .mapToDouble(Point::high)
                .max()
                .orElse(1);
    }

    /// The least value above 0, for a logarithmic axis.
    double lowest() {
        return series.stream()
                .flatMap(one -> one.points.stream())
                .filter(point -> point.isKnown() && point.low > 0)
                .mapToDouble(Point::low)
                .min()
                .orElse(1);
    }

    /// Whether there is nothing to draw.
    public boolean isEmpty() {
        return series.stream().flatMap(one -> one.points.stream()).noneMatch(Point::isKnown);
    }
}
