package io.framecast.engine.node;

import java.time.Instant;

/// Nanoseconds since the epoch that advance with the monotonic clock. Two processes of one host agree to within the
/// resolution of the system clock, even if they started at different times. A step of the system clock does not
/// distort a latency.
final class EpochClock {
    private final long offsetNs;

    EpochClock() {
        final Instant now = Instant.now();
        offsetNs = now.getEpochSecond() * 1_000_000_000L + now.getNano() - System.nanoTime();
    }

    /// The difference between this clock and the monotonic clock.
    long offsetNs() {
        return offsetNs;
    }

    long epochNs() {
        return System.nanoTime() + offsetNs;
    }
}
