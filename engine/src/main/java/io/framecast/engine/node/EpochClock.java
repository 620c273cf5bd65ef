package io.framecast.engine.node;

import java.time.Instant;

/// Nanoseconds since the epoch that advance with the monotonic clock: two processes of one host that started
/// at different times agree to within the system clock's own resolution, and no step of that clock tears a
/// latency apart.
final class EpochClock {
    private final long offsetNs;

    EpochClock() {
        final Instant now = Instant.now();
        offsetNs = now.getEpochSecond() * 1_000_000_000L + now.getNano() - System.nanoTime();
    }

    /// What is added to the monotonic clock.
    long offsetNs() {
        return offsetNs;
    }

    long epochNs() {
        return System.nanoTime() + offsetNs;
    }
}
