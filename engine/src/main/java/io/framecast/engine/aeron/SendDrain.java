package io.framecast.engine.aeron;

import io.aeron.AeronCounters;
import io.aeron.ExclusivePublication;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.status.CountersReader;

/// Remembers the last positions of closed publications. A transport that closes right after its last datagram
/// (end of stream, leave) then gives the driver the time to send it. The lanes' threads add to it.
final class SendDrain {
    private static final int PENDING_MAX = 64;
    private static final long WAIT_NS_MAX = TimeUnit.MILLISECONDS.toNanos(100);

    private final CountersReader counters;
    private final ConcurrentLinkedDeque<Pending> pending = new ConcurrentLinkedDeque<>();

    SendDrain(final CountersReader counters) {
        this.counters = counters;
    }

    /// Call it before the publication is closed.
    void add(final Outbound outbound) {
        final ExclusivePublication publication = outbound.published();
        if (publication == null || !publication.isConnected()) {
            return;
        }
        if (pending.size() >= PENDING_MAX) {
            pending.pollFirst();
        }
        pending.add(new Pending(publication.registrationId(), publication.position()));
    }

    void await() {
        final long deadlineNs = System.nanoTime() + WAIT_NS_MAX;
        for (Pending next = pending.peek(); next != null; next = pending.peek()) {
            if (isSent(next)) {
                pending.remove(next);
            } else if (System.nanoTime() - deadlineNs < 0) {
                Waiting.pause();
            } else {
                return;
            }
        }
    }

    /// Also true where the driver has no sender position: for shared memory, and for publications that it has
    /// dropped.
    private boolean isSent(final Pending publication) {
        final int id = counters.findByTypeIdAndRegistrationId(
                AeronCounters.DRIVER_SENDER_POSITION_TYPE_ID, publication.registrationId());
        return id == CountersReader.NULL_COUNTER_ID || counters.getCounterValue(id) >= publication.position();
    }

    private record Pending(long registrationId, long position) {}
}
