package io.framecast.engine.subscribe;

import io.framecast.api.Delivery;
import io.framecast.reliability.wire.HeartbeatLayout;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/// The expiry of frames under `delivery=deadline=…`. A frame's age is measured by the source's clock, which
/// heartbeats carry. Written by the receiver's thread, read by the subscriber's too.
final class SourceClock {
    private static final long UNKNOWN = Long.MAX_VALUE;

    private final boolean expiring;
    private final long patienceNs;
    // The difference between the source's clock and the engine's time.
    private final AtomicLong offsetNs = new AtomicLong(UNKNOWN);

    SourceClock(final Delivery delivery) {
        expiring = delivery instanceof Delivery.Deadline;
        patienceNs = delivery instanceof Delivery.Deadline(int patienceMs)
                ? TimeUnit.MILLISECONDS.toNanos(patienceMs)
                : Long.MAX_VALUE;
    }

    /// A heartbeat of the source that this session follows.
    void onHeartbeat(final MemorySegment datagram, final long offset, final long nowNs) {
        offsetNs.lazySet(HeartbeatLayout.CLOCK.get(datagram, offset) - nowNs);
    }

    /// Whether frames expire at all.
    boolean isExpiring() {
        return expiring;
    }

    /// Whether a frame of that timestamp is too old; false while the source's clock is unknown.
    ///
    /// @param nowNs the engine's time
    boolean isExpired(final long timestampNs, final long nowNs) {
        final long offset = offsetNs.get();
        return expiring && offset != UNKNOWN && nowNs + offset - timestampNs >= patienceNs;
    }
}
