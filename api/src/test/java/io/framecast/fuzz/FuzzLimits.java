package io.framecast.fuzz;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/// Limits that hold for every input, however hostile.
public final class FuzzLimits {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int TRIES = 3;

    private FuzzLimits() {}

    /// Does something that may allocate so much and no more on this thread. Where it allocates more it is done again,
    /// because classes that are loaded for the first time count here, under Jazzer with their instrumentation.
    ///
    /// @param action to be done up to three times
    /// @throws AssertionError when it allocated more each time
    public static void requireAllocation(final long bytesMax, final Runnable action) {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < TRIES && least > bytesMax; i++) {
            final long before = THREADS.getCurrentThreadAllocatedBytes();
            action.run();
            least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
        }
        if (least > bytesMax) {
            throw new AssertionError("allocated " + least + " bytes, more than " + bytesMax);
        }
    }

    /// @throws AssertionError when the condition does not hold
    public static void require(final boolean condition, final String expectation) {
        if (!condition) {
            throw new AssertionError("expected " + expectation);
        }
    }

    /// @throws AssertionError when two values differ
    public static void requireEqual(final Object expected, final Object got) {
        if (!expected.equals(got)) {
            throw new AssertionError("expected " + expected + ", got " + got);
        }
    }
}
