package io.framecast.samples.subscribe;

import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;

/// Latencies by this host's clock. Publisher and subscriber read clocks of their own: each latency is corrected by
/// their offset, the first ones as soon as it is known. Some may be below 0, by the error of the offset.
final class Latencies {
    private static final int DIGITS = 3;

    // That many wait for the offset.
    private static final int WAITING_MAX = 4_096;

    private final List<Long> waiting = new ArrayList<>();
    private final Histogram positive = new Histogram(DIGITS);
    // By magnitude.
    private final Histogram negative = new Histogram(DIGITS);

    /// Records a latency whose offset is not known.
    ///
    /// @param ns the time by this host's clock less the timestamp by the source's
    void record(final long ns) {
        waiting.add(ns);
        if (waiting.size() == WAITING_MAX) {
            settle(0);
        }
    }

    /// Records a latency.
    ///
    /// @param ns as above
    /// @param offsetNs the source's clock less this host's
    void record(final long ns, final long offsetNs) {
        settle(offsetNs);
        enter(ns + offsetNs);
    }

    private void settle(final long offsetNs) {
        if (!waiting.isEmpty()) {
            waiting.forEach(ns -> enter(ns + offsetNs));
            waiting.clear();
        }
    }

    private void enter(final long ns) {
        if (ns < 0) {
            negative.recordValue(-ns);
        } else {
            positive.recordValue(ns);
        }
    }

    /// Adds the latencies of another source.
    void add(final Latencies other) {
        other.settle(0);
        positive.add(other.positive);
        negative.add(other.negative);
    }

    boolean hasNegative() {
        settle(0);
        return negative.getTotalCount() > 0;
    }

    /// @return 0 when nothing was recorded
    long percentileNs(final double percent) {
        settle(0);
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
