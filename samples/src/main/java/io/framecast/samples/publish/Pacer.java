package io.framecast.samples.publish;

import io.framecast.samples.Stop;
import java.util.concurrent.locks.LockSupport;

/// Holds a live stream to its rate. A source that fell behind does not catch up in a burst: a camera would
/// not either.
final class Pacer {
    private static final long PARK_MAX_NS = 20_000_000;

    private final long periodNs;
    private long dueNs;

    /// @param framesPerSecond 0 for no pacing
    Pacer(final double framesPerSecond, final long nowNs) {
        periodNs = framesPerSecond == 0 ? 0 : Math.max(1, Math.round(1e9 / framesPerSecond));
        dueNs = nowNs;
    }

    /// Waits until the next frame is due, or until stopping is requested or `endNs` has come.
    void await(final Stop stop, final long endNs) {
        if (periodNs == 0) {
            return;
        }
        long nowNs = System.nanoTime();
        while (dueNs - nowNs > 0 && endNs - nowNs > 0 && !stop.isRequested()) {
            LockSupport.parkNanos(this, Math.min(PARK_MAX_NS, Math.min(dueNs, endNs) - nowNs));
            nowNs = System.nanoTime();
        }
        dueNs = nextDueNs(nowNs);
    }

    private long nextDueNs(final long nowNs) {
        final boolean behind = nowNs - dueNs > periodNs;
        return (behind ? nowNs : dueNs) + periodNs;
    }
}
