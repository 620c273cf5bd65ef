package io.framecast.engine.session;

import java.time.Instant;

/// Nanoseconds since the epoch that advance with the monotonic clock. Two processes of one host agree to within the
/// resolution of the system clock, even if they started at different times. A step of the system clock does not
/// distort a latency.
public final class EpochClock {
    /// A thread that is preempted between the readings of the two clocks must not shift one against the other.
    private static final int READINGS = 8;

    private final long offsetNs;

    public EpochClock() {
        long tightestNs = Long.MAX_VALUE;
        long offset = 0;
        for (int i = 0; i < READINGS; i++) {
            final long beforeNs = System.nanoTime();
            final Instant now = Instant.now();
            final long widthNs = System.nanoTime() - beforeNs;
            if (widthNs < tightestNs) {
                tightestNs = widthNs;
                offset = now.getEpochSecond() * 1_000_000_000L + now.getNano() - beforeNs - widthNs / 2;
            }
        }
        offsetNs = offset;
    }

    /// The difference between this clock and the monotonic clock.
    public long offsetNs() {
        return offsetNs;
    }

    public long epochNs() {
        return System.nanoTime() + offsetNs;
    }
}
