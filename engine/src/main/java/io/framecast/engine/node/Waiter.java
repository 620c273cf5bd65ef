package io.framecast.engine.node;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// A user's thread that sleeps until an agent has something for it. One thread at a time.
final class Waiter {
    private volatile @Nullable Thread thread;

    /// Any thread, after what the sleeper waits for was made true; costs a read unless somebody sleeps.
    void wake() {
        final Thread sleeping = thread;
        if (sleeping != null) {
            thread = null;
            LockSupport.unpark(sleeping);
        }
    }

    /// Sleeps until the condition holds, the time is over or the thread is interrupted. An interrupt that was
    /// there before ends nothing: else a caller that waits in a loop would never sleep again. The caller finds
    /// either afterwards.
    void await(final BooleanSupplier condition, final long longestNs) {
        final long startNs = System.nanoTime();
        final boolean before = Thread.interrupted();
        long leftNs = longestNs;
        while (leftNs > 0
                && !condition.getAsBoolean()
                && !Thread.currentThread().isInterrupted()) {
            thread = Thread.currentThread();
            // Whoever makes it true from here on finds the sleeper.
            if (!condition.getAsBoolean()) {
                LockSupport.parkNanos(this, leftNs);
            }
            thread = null;
            leftNs = longestNs - (System.nanoTime() - startNs);
        }
        if (before) {
            Thread.currentThread().interrupt();
        }
    }
}
