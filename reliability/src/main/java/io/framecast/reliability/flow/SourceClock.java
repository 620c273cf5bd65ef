package io.framecast.reliability.flow;

import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.HeartbeatLayout;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/// The source's clock as this host knows it, for the user's side of a session: the expiry of frames under a
/// policy with a deadline, by the clock that heartbeats carry, and the offset from this host's clock, by
/// exchanges of timestamps.
///
/// Written by the receiver's thread, read by the subscriber's too.
public final class SourceClock {
    private static final long UNKNOWN = ClockOffset.UNKNOWN;

    private final boolean expiring;
    private final long patienceNs;
    // The difference between the source's clock and the engine's time.
    private final AtomicLong offsetNs = new AtomicLong(UNKNOWN);

    // Of the source's clock and this host's. The bound is UNKNOWN while the offset changes.
    private final AtomicLong hostOffsetNs = new AtomicLong();
    private final AtomicLong boundNs = new AtomicLong(UNKNOWN);

    /// @param delivery the subscriber's
    public SourceClock(final Delivery delivery) {
        expiring = delivery.kind() == Delivery.Kind.DEADLINE;
        patienceNs = TimeUnit.MILLISECONDS.toNanos(delivery.patienceMs());
    }

    /// A heartbeat of the source that this session follows.
    public void onHeartbeat(
            final MemorySegment datagram, final long offset, final ClockOffset measured, final long nowNs) {
        offsetNs.lazySet(HeartbeatLayout.CLOCK.get(datagram, offset) - nowNs);
        if (measured.offsetNs() != hostOffsetNs.get()) {
            boundNs.set(UNKNOWN);
            hostOffsetNs.set(measured.offsetNs());
        }
        boundNs.set(measured.boundNs(nowNs));
    }

    /// The source's clock less this host's; 0 while it is not known.
    public long hostOffsetNs() {
        return boundNs.get() == UNKNOWN ? 0 : hostOffsetNs.get();
    }

    /// The offset is known to within this; Long.MAX_VALUE: not known.
    public long boundNs() {
        return boundNs.get();
    }

    /// Whether frames expire at all.
    public boolean isExpiring() {
        return expiring;
    }

    /// Whether a frame of that timestamp is too old; false while the source's clock is unknown.
    ///
    /// @param nowNs the engine's time
    public boolean isExpired(final long timestampNs, final long nowNs) {
        final long offset = offsetNs.get();
        return expiring && offset != UNKNOWN && nowNs + offset - timestampNs >= patienceNs;
    }
}
