package io.framecast.engine.net;

import io.framecast.api.spi.LaneCounter;

/// A lane's counters. One thread at a time.
public final class LaneCounts {
    private final long[] values = new long[LaneCounter.values().length];

    public void add(final LaneCounter counter, final long by) {
        values[counter.ordinal()] += by;
    }

    public long value(final LaneCounter counter) {
        return values[counter.ordinal()];
    }
}
