package io.framecast.perf.table;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

/// Percentiles of some times, in microseconds; NaN where there is none.
public record Percentiles(int count, double p50Us, double p99Us, double maxUs) {
    private static final double NS_PER_US = 1e3;

    /// A percentile is the first value that so large a share of the values does not reach, as in the simulator.
    public static Percentiles of(final Collection<Long> valuesNs) {
        final long[] sorted =
                valuesNs.stream().mapToLong(Long::longValue).sorted().toArray();
        return new Percentiles(sorted.length, at(sorted, 0.5), at(sorted, 0.99), at(sorted, 1));
    }

    private static double at(final long[] sorted, final double share) {
        return sorted.length == 0
                ? Double.NaN
                : sorted[(int) Math.min(sorted.length - 1, (long) (share * sorted.length))] / NS_PER_US;
    }

    /// For [Table#field].
    public Map<String, Object> json() {
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("count", count);
        json.put("p50", p50Us);
        json.put("p99", p99Us);
        json.put("max", maxUs);
        return json;
    }

    /// `p50 / p99 / max`, or a dash.
    public String text() {
        return count == 0 ? Table.UNKNOWN : Math.round(p50Us) + " / " + Math.round(p99Us) + " / " + Math.round(maxUs);
    }
}
