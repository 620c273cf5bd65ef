package io.framecast.engine.ready;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/// Waits that no interrupt ends, for work that must be finished. The caller finds the interrupt afterwards.
///
/// A thread with a pending interrupt parks for no time at all, so the wait clears the interrupt first: it would
/// keep a core busy.
public final class Uninterrupted {
    private static final long PARK_NS = 200_000;

    private Uninterrupted() {}

    /// Sleeps until the condition holds or the time is over; looks every 200 µs.
    ///
    /// @return whether the condition holds
    public static boolean await(final BooleanSupplier condition, final long longestNs) {
        final long startNs = System.nanoTime();
        boolean interrupted = false;
        try {
            while (!condition.getAsBoolean()) {
                if (System.nanoTime() - startNs >= longestNs) {
                    return false;
                }
                interrupted |= Thread.interrupted();
                LockSupport.parkNanos(PARK_NS);
            }
            return true;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
