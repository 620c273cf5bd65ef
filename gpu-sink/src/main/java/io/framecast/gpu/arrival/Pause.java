package io.framecast.gpu.arrival;

import java.util.concurrent.locks.LockSupport;

/// The pause of a thread that found no work: it spins for a while, then sleeps for short times.
public final class Pause {
    private static final int SPINS = 200;
    private static final long SHORTEST_NS = 10_000;
    private static final long LONGEST_NS = 100_000;

    private int spins;
    private long restNs = SHORTEST_NS;

    /// There was something.
    public void reset() {
        spins = 0;
        restNs = SHORTEST_NS;
    }

    /// There was nothing.
    public void rest() {
        if (spins < SPINS) {
            spins++;
            Thread.onSpinWait();
            return;
        }
        LockSupport.parkNanos(this, restNs);
        restNs = Math.min(LONGEST_NS, 2 * restNs);
    }
}
