package io.framecast.engine.session;

import io.framecast.reliability.flow.Deadline;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/// A user's thread that sleeps until an agent wakes it. One thread at a time.
public final class Waiter {
    private volatile @Nullable Thread thread;

    /// Any thread, after it made the sleeper's condition true; costs a read unless a thread sleeps.
    public void wake() {
        final Thread sleeping = thread;
        if (sleeping != null) {
            thread = null;
            LockSupport.unpark(sleeping);
        }
    }

    /// Sleeps until the condition holds, the time is over or the thread is interrupted. An interrupt from before
    /// this call does not end the sleep: otherwise a caller that waits in a loop would never sleep again. The
    /// caller finds either interrupt afterwards.
    public void await(final BooleanSupplier condition, final long longestNs) {
        repeat(condition, longestNs, leftNs -> {
            thread = Thread.currentThread();
            // A thread that makes the condition true from here on finds the sleeper.
            if (!condition.getAsBoolean()) {
                LockSupport.parkNanos(this, leftNs);
            }
            thread = null;
        });
    }

    /// Takes steps until the condition holds, the time is over or the thread is interrupted, as in [#await].
    ///
    /// @param step is given the time that is left
    public static void repeat(final BooleanSupplier condition, final long longestNs, final LongConsumer step) {
        final Deadline end = new Deadline(System.nanoTime(), longestNs);
        final boolean before = Thread.interrupted();
        long leftNs = longestNs;
        while (leftNs > 0
                && !condition.getAsBoolean()
                && !Thread.currentThread().isInterrupted()) {
            step.accept(leftNs);
            leftNs = end.leftNs(System.nanoTime());
        }
        if (before) {
            Thread.currentThread().interrupt();
        }
    }
}
