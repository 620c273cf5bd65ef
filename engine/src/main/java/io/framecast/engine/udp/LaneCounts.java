package io.framecast.engine.udp;

import io.framecast.api.spi.LaneCounter;

/// A lane's counters. One thread at a time.
final class LaneCounts {
    private final long[] values = new long[LaneCounter.values().length];

    void add(final LaneCounter counter, final long by) {
        values[counter.ordinal()] += by;
    }

    long value(final LaneCounter counter) {
        return values[counter.ordinal()];
    }
}
