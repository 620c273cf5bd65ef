package io.framecast.perf.bench;

import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// How late some were, in microseconds; NaN where there is none.
record TailStats(int count, double p50Us, double p99Us, double maxUs) {
    private static final double NS_PER_US = 1e3;
    private static final double DIGITS = 10;

    /// A percentile is the first value that so large a share of the values does not reach, as in the
    /// simulator.
    static TailStats of(final Collection<Long> valuesNs) {
        final long[] sorted =
                valuesNs.stream().mapToLong(Long::longValue).sorted().toArray();
        return new TailStats(sorted.length, at(sorted, 0.5), at(sorted, 0.99), at(sorted, 1));
    }

    private static double at(final long[] sorted, final double share) {
        return sorted.length == 0
                ? Double.NaN
                : sorted[(int) Math.min(sorted.length - 1, (long) (share * sorted.length))] / NS_PER_US;
    }

    Map<String, @Nullable Object> json() {
        final Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("count", count);
        json.put("p50", number(p50Us));
        json.put("p99", number(p99Us));
        json.put("max", number(maxUs));
        return json;
    }

    static @Nullable Double number(final double value) {
        return Double.isFinite(value) ? Math.rint(value * DIGITS) / DIGITS : null;
    }

    /// `p50 / p99 / max`, or a dash.
    String text() {
        return count == 0
                ? "–"
                : Arrays.stream(new double[] {p50Us, p99Us, maxUs})
                        .mapToObj(us -> Long.toString(Math.round(us)))
                        .reduce((left, right) -> left + " / " + right)
                        .orElseThrow();
    }
}
