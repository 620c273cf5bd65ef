package io.framecast.engine.node;

import io.framecast.api.Delivery;
import io.framecast.reliability.wire.HeartbeatLayout;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/// When frames expire under `delivery=deadline=…`: their age is by the clock that they were stamped by, which
/// heartbeats tell. Written by the receiver's thread, read by the subscriber's too.
final class SourceClock {
    private static final long UNKNOWN = Long.MAX_VALUE;

    private final boolean expiring;
    private final long patienceNs;
    // What is added to the engine's time.
    private final AtomicLong offsetNs = new AtomicLong(UNKNOWN);

    SourceClock(final Delivery delivery) {
        expiring = delivery instanceof Delivery.Deadline;
        patienceNs = delivery instanceof Delivery.Deadline(int patienceMs)
                ? TimeUnit.MILLISECONDS.toNanos(patienceMs)
                : Long.MAX_VALUE;
    }

    /// A heartbeat of the source that is followed.
    void onHeartbeat(final MemorySegment datagram, final long offset, final long nowNs) {
        offsetNs.lazySet(HeartbeatLayout.clockNs(datagram, offset) - nowNs);
    }

    /// Whether frames expire at all.
    boolean isExpiring() {
        return expiring;
    }

    /// Whether a frame of that timestamp is too old; never where the source's clock is not known.
    ///
    /// @param nowNs the engine's time
    boolean isExpired(final long timestampNs, final long nowNs) {
        final long offset = offsetNs.get();
        return expiring && offset != UNKNOWN && nowNs + offset - timestampNs >= patienceNs;
    }
}
