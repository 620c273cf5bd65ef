package io.framecast.gpu.arrival;

import java.util.Arrays;

/// Events that wait for room in the ring, in order. Losses beside each other become one; where all places are
/// taken, also those of different reasons.
///
/// Used by one thread; allocates nothing after its construction.
final class EventQueue {
    // One poll reports at most 64 sources, with three events each, and then runs of losses, which merge.
    static final int EVENTS_MAX = 256;

    private final int channel;
    private final ArrivalRecord[] events = new ArrivalRecord[EVENTS_MAX];
    private int first;
    private int size;
    private long merged;

    /// @param channel of all events
    EventQueue(final int channel) {
        this.channel = channel;
        Arrays.setAll(events, _ -> new ArrivalRecord());
    }

    boolean isEmpty() {
        return size == 0;
    }

    /// Losses reported with another reason than their own, or events dropped, for want of room.
    long merged() {
        return merged;
    }

    void loss(final long session, final long firstFrameId, final long count, final int reason) {
        if (size > 0) {
            final ArrivalRecord newest = events[(first + size - 1) % EVENTS_MAX];
            final boolean joins = newest.kind == ArrivalLayout.KIND_LOSS
                    && newest.session == session
                    && newest.frameId + newest.count == firstFrameId;
            if (joins && (size == EVENTS_MAX || newest.reason == reason)) {
                merged += newest.reason == reason ? 0 : 1;
                newest.count += count;
                newest.reason = reason;
                return;
            }
        }
        add(ArrivalLayout.KIND_LOSS, session, firstFrameId, count, reason);
    }

    void source(final int kind, final long session, final long firstFrameId) {
        add(kind, session, firstFrameId, 0, 0);
    }

    void over(final int state) {
        add(ArrivalLayout.KIND_OVER, 0, 0, 0, state);
    }

    private void add(final int kind, final long session, final long frameId, final long count, final int reason) {
        if (size == EVENTS_MAX) {
            merged++;
            return;
        }
        final ArrivalRecord event = events[(first + size++) % EVENTS_MAX];
        event.event(kind, channel);
        event.session = session;
        event.frameId = frameId;
        event.count = count;
        event.reason = reason;
    }

    /// Takes the oldest out; there must be one. It is the caller's until the next event comes.
    ArrivalRecord take() {
        final ArrivalRecord oldest = events[first];
        first = (first + 1) % EVENTS_MAX;
        size--;
        return oldest;
    }
}
