package io.framecast.perf.rivals;

import io.framecast.engine.metrics.EngineCounter;
import io.framecast.perf.harness.CountersFile;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// The traffic of an engine, from its counters.
final class EngineTraffic {
    private static final long DRAIN_MAX_NS = TimeUnit.SECONDS.toNanos(2);
    private static final long DRAIN_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private final CountersFile counters;
    private long framesBefore;

    EngineTraffic(final CountersFile counters) {
        this.counters = counters;
    }

    /// The measured part begins.
    ///
    /// @param frames published by now
    void begin(final long frames) {
        framesBefore = frames;
    }

    /// Waits, not for long, until the window is empty: what was published has been sent and acknowledged.
    void awaitDrained() {
        final long endNs = System.nanoTime() + DRAIN_MAX_NS;
        while (counters.sum(EngineCounter.WINDOW_USED) > 0 && System.nanoTime() < endNs) {
            LockSupport.parkNanos(DRAIN_PAUSE_NS);
        }
    }

    /// On every lane, for the frames since [#begin]: their share of the whole stream, joins included. What
    /// counters said at the beginning would be too little, for they are written every 10 ms.
    ///
    /// @param frames published in all, and sent
    FrameSource.Traffic sent(final long frames) {
        final long datagrams = counters.sum(EngineCounter.SENT_DATAGRAMS);
        final double share = frames == 0 ? 0 : (double) (frames - framesBefore) / frames;
        return FrameSource.Traffic.ofDatagrams(
                        Math.round(datagrams * share), Math.round(counters.sum(EngineCounter.SENT_BYTES) * share))
                .ofStream(datagrams);
    }
}
