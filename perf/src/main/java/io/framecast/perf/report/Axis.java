package io.framecast.perf.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// A value axis with round ticks.
///
/// @param low value at its beginning
/// @param high value at its end
record Axis(double low, double high, boolean logarithmic, List<Double> ticks) {
    private static final int TICKS = 5;
    private static final double MARGIN = 1.05;

    static Axis of(final Figure figure) {
        return figure.logarithmic() ? decades(figure) : steps(figure.highest() * MARGIN);
    }

    private static Axis decades(final Figure figure) {
        final int first = (int) Math.floor(Math.log10(figure.lowest()));
        final int last = Math.max(first + 1, (int) Math.ceil(Math.log10(figure.highest())));
        final List<Double> ticks = new ArrayList<>();
        for (int power = first; power <= last; power++) {
            ticks.add(Math.pow(10, power));
        }
        return new Axis(ticks.getFirst(), ticks.getLast(), true, ticks);
    }

    private static Axis steps(final double highest) {
        final double rough = highest > 0 ? highest / TICKS : 1;
        final double power = Math.pow(10, Math.floor(Math.log10(rough)));
        final double mantissa = rough / power;
        final double step = power * (mantissa <= 1 ? 1 : mantissa <= 2 ? 2 : mantissa <= 5 ? 5 : 10);
        final List<Double> ticks = new ArrayList<>();
        final int count = (int) Math.ceil(highest / step);
        for (int i = 0; i <= Math.max(1, count); i++) {
            ticks.add(i * step);
        }
        return new Axis(0, ticks.getLast(), false, ticks);
    }

    /// Where a value lies, 0 … 1.
    double share(final double value) {
        if (logarithmic) {
            final double clamped = Math.max(low, value);
            return (Math.log10(clamped) - Math.log10(low)) / (Math.log10(high) - Math.log10(low));
        }
        return value / high;
    }

    static String text(final double value) {
        if (value == 0 || (value >= 1 && value == Math.rint(value))) {
            return String.format(Locale.ROOT, "%,.0f", value);
        }
        return String.format(Locale.ROOT, "%.3f", value).replaceAll("0+$", "").replaceAll("\\.$", "");
    }
}
