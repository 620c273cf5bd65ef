package io.framecast.engine.node;

/// Sessions that this subscriber was a member of and is no more. One that was lost may be joined again for a
/// while; one that ended, or was waited for in vain, never: what is heard of it was under way for long.
///
/// As many are remembered as there are places; then the oldest is forgotten. Pure state; one thread.
final class EndedSessions {
    static final int SESSIONS_MAX = 256;
    private static final long NEVER = Long.MIN_VALUE;

    private final long[] sessions = new long[SESSIONS_MAX];
    private final long[] untilNs = new long[SESSIONS_MAX];
    private final long[] nextFrameIds = new long[SESSIONS_MAX];
    private int count;
    private int next;

    /// It ended.
    void onEnded(final long session) {
        put(session, NEVER, 0);
    }

    /// It was lost, and may be joined again until then.
    ///
    /// @param nextFrameId the first frame that was neither given nor reported
    void onLost(final long session, final long deadlineNs, final long nextFrameId) {
        put(session, deadlineNs, nextFrameId);
    }

    /// This process stood still for so long: whoever was waited for is waited for so much longer.
    void onStandstill(final long ns) {
        for (int i = 0; i < count; i++) {
            untilNs[i] += untilNs[i] == NEVER ? 0 : ns;
        }
    }

    private void put(final long session, final long deadlineNs, final long nextFrameId) {
        int place = find(session);
        if (place < 0) {
            place = next;
            next = (next + 1) % SESSIONS_MAX;
            count = Math.min(count + 1, SESSIONS_MAX);
        }
        sessions[place] = session;
        untilNs[place] = deadlineNs;
        nextFrameIds[place] = nextFrameId;
    }

    /// Whether this subscriber was a member of it before.
    boolean contains(final long session) {
        return find(session) >= 0;
    }

    /// The first frame that was neither given nor reported; `Long.MAX_VALUE` where this subscriber was no member.
    long nextFrameId(final long session) {
        final int place = find(session);
        return place < 0 ? Long.MAX_VALUE : nextFrameIds[place];
    }

    /// Whether it must be left alone.
    boolean isOver(final long session, final long nowNs) {
        final int place = find(session);
        return place >= 0 && nowNs >= untilNs[place];
    }

    private int find(final long session) {
        for (int i = 0; i < count; i++) {
            if (sessions[i] == session) {
                return i;
            }
        }
        return -1;
    }
}
