package io.framecast.engine.node;

import io.framecast.api.Delivery;
import io.framecast.reliability.wire.HeartbeatLayout;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;

/// When frames expire under `delivery=deadline=…`: their age is by the clock that they were stamped by, which
/// heartbeats tell. One thread.
final class SourceClock {
    static final long NEVER_NS = Long.MAX_VALUE;

    private final long patienceNs;
    // What is added to the engine's time.
    private long offsetNs = NEVER_NS;

    SourceClock(final Delivery delivery) {
        patienceNs = delivery instanceof Delivery.Deadline(int patienceMs)
                ? TimeUnit.MILLISECONDS.toNanos(patienceMs)
                : NEVER_NS;
    }

    /// A heartbeat that the machine took.
    void onHeartbeat(final MemorySegment datagram, final long offset, final long nowNs) {
        offsetNs = HeartbeatLayout.clockNs(datagram, offset) - nowNs;
    }

    /// When a frame expires, in the engine's time; [#NEVER_NS] where none does, or the clock is not known.
    long expiryNs(final long timestampNs) {
        return patienceNs == NEVER_NS || offsetNs == NEVER_NS ? NEVER_NS : timestampNs - offsetNs + patienceNs;
    }
}
