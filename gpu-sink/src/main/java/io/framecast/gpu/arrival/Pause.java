package io.framecast.gpu.arrival;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;

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

    /// Works until something is over, and rests where there is nothing to do.
    ///
    /// @param work answers how much was done
    /// @param longestNs longest time without work
    /// @return whether it is over
    public boolean await(final BooleanSupplier over, final IntSupplier work, final long longestNs) {
        final long startNs = System.nanoTime();
        while (!over.getAsBoolean()) {
            if (work.getAsInt() > 0) {
                reset();
            } else if (System.nanoTime() - startNs < longestNs) {
                rest();
            } else {
                return over.getAsBoolean();
            }
        }
        return true;
    }
}
