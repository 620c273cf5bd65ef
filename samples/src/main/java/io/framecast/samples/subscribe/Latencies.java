package io.framecast.samples.subscribe;

import org.HdrHistogram.Histogram;

/// Latencies of which some may be below 0: publisher and subscriber read clocks of their own, and those of two hosts
/// may differ by more than a frame takes.
final class Latencies {
    private static final int DIGITS = 3;

    private final Histogram positive = new Histogram(DIGITS);
    // By magnitude.
    private final Histogram negative = new Histogram(DIGITS);

    void record(final long ns) {
        if (ns < 0) {
            negative.recordValue(-ns);
        } else {
            positive.recordValue(ns);
        }
    }

    boolean hasNegative() {
        return negative.getTotalCount() > 0;
    }

    /// @return 0 when nothing was recorded
    long percentileNs(final double percent) {
        final long below = negative.getTotalCount();
        final long count = below + positive.getTotalCount();
        final long rank = Math.max(1, (long) Math.ceil(count * percent / 100));
        if (rank <= below) {
            // The largest magnitude is the least latency.
            return -negative.getValueAtPercentile(100.0 * (below - rank + 1) / below);
        }
        return positive.getTotalCount() == 0
                ? 0
                : positive.getValueAtPercentile(100.0 * (rank - below) / positive.getTotalCount());
    }
}
