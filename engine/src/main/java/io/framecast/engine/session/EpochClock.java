package io.framecast.engine.session;

import java.time.Instant;

/// Nanoseconds since the epoch that advance with the monotonic clock. Two processes of one host agree to within the
/// resolution of the system clock, even if they started at different times. A step of the system clock does not
/// distort a latency.
public final class EpochClock {
    private final long offsetNs;

    public EpochClock() {
        final Instant now = Instant.now();
        offsetNs = now.getEpochSecond() * 1_000_000_000L + now.getNano() - System.nanoTime();
    }

    /// The difference between this clock and the monotonic clock.
    public long offsetNs() {
        return offsetNs;
    }

    public long epochNs() {
        return System.nanoTime() + offsetNs;
    }
}
