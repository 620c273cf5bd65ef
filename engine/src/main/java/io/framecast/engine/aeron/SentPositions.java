package io.framecast.engine.aeron;

import io.aeron.AeronCounters;
import io.aeron.ExclusivePublication;
import org.agrona.concurrent.status.CountersReader;
import org.jspecify.annotations.Nullable;

/// Counts the datagrams of a publication that the driver has sent, by its sender position; unsent datagrams still
/// wait in the term buffer. Bounded: when many calls wait, the latest count together. One thread.
final class SentPositions {
    private static final int CALLS_MAX = 256;

    private final long[] positions = new long[CALLS_MAX];
    private final long[] datagrams = new long[CALLS_MAX];
    private @Nullable CountersReader counters;
    private int counterId = CountersReader.NULL_COUNTER_ID;
    private int head;
    private int tail;
    private long accepted;
    private long sent;

    /// Datagrams were accepted, the last of them up to the publication's position.
    void onAccepted(final ExclusivePublication publication, final CountersReader reader, final int count) {
        if (count == 0) {
            return;
        }
        if (counters == null) {
            counters = reader;
            // Shared memory has no sender position, because no datagram waits there.
            counterId = reader.findByTypeIdAndRegistrationId(
                    AeronCounters.DRIVER_SENDER_POSITION_TYPE_ID, publication.registrationId());
        }
        accepted += count;
        if (tail - head == CALLS_MAX) {
            tail--;
        }
        positions[tail & CALLS_MAX - 1] = publication.position();
        datagrams[tail & CALLS_MAX - 1] = accepted;
        tail++;
    }

    /// Datagrams accepted and not sent yet.
    long waiting() {
        if (head == tail) {
            return 0;
        }
        final CountersReader reader = counters;
        final long position = reader == null || counterId == CountersReader.NULL_COUNTER_ID
                ? Long.MAX_VALUE
                : reader.getCounterValue(counterId);
        while (head != tail && positions[head & CALLS_MAX - 1] <= position) {
            sent = datagrams[head & CALLS_MAX - 1];
            head++;
        }
        return accepted - sent;
    }
}
