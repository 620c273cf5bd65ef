package io.framecast.gpu.arrival;

/// Events that wait for room in the ring, in order. Losses beside each other become one; where all places are
/// taken, also those of different reasons.
///
/// Used by one thread; allocates nothing after its construction.
final class EventQueue {
    // One poll reports at most 64 sources, with three events each, and then runs of losses, which merge.
    static final int EVENTS_MAX = 256;

    private final int[] kinds = new int[EVENTS_MAX];
    private final long[] sessions = new long[EVENTS_MAX];
    private final long[] frameIds = new long[EVENTS_MAX];
    private final long[] counts = new long[EVENTS_MAX];
    private final int[] reasons = new int[EVENTS_MAX];
    private int first;
    private int size;
    private long merged;

    boolean isEmpty() {
        return size == 0;
    }

    /// Losses reported with another reason than their own, or events dropped, for want of room.
    long merged() {
        return merged;
    }

    void loss(final long session, final long firstFrameId, final long count, final int reason) {
        if (size > 0) {
            final int newest = (first + size - 1) % EVENTS_MAX;
            final boolean joins = kinds[newest] == ArrivalLayout.KIND_LOSS
                    && sessions[newest] == session
                    && frameIds[newest] + counts[newest] == firstFrameId;
            final boolean full = size == EVENTS_MAX;
            if (joins && (full || reasons[newest] == reason)) {
                merged += reasons[newest] == reason ? 0 : 1;
                counts[newest] += count;
                reasons[newest] = reason;
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
        final int at = (first + size++) % EVENTS_MAX;
        kinds[at] = kind;
        sessions[at] = session;
        frameIds[at] = frameId;
        counts[at] = count;
        reasons[at] = reason;
    }

    /// Takes the oldest out into a record; there must be one.
    void take(final ArrivalRecord into, final int channel) {
        into.event(kinds[first], channel);
        into.session = sessions[first];
        into.frameId = frameIds[first];
        into.count = counts[first];
        into.reason = reasons[first];
        first = (first + 1) % EVENTS_MAX;
        size--;
    }
}
