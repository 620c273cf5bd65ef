package io.framecast.reliability.membership;

/// Sessions that this subscriber has left. The subscriber may join a lost session again until a deadline. It
/// never rejoins a session that ended or whose deadline passed: a datagram of that session is an old one.
///
/// The number of remembered sessions is fixed; the oldest is forgotten first. Pure state; one thread.
final class EndedSessions {
    static final int SESSIONS_MAX = 256;
    private static final long NEVER = Long.MIN_VALUE;

    private final long[] sessions = new long[SESSIONS_MAX];
    private final long[] untilNs = new long[SESSIONS_MAX];
    private final long[] nextFrameIds = new long[SESSIONS_MAX];
    private int count;
    private int next;

    /// The session ended.
    void onEnded(final long session) {
        put(session, NEVER, 0);
    }

    /// The session was lost, and may be joined again until the deadline.
    ///
    /// @param nextFrameId the first frame that was neither delivered nor reported lost
    void onLost(final long session, final long deadlineNs, final long nextFrameId) {
        put(session, deadlineNs, nextFrameId);
    }

    /// This process stood still for this long: all deadlines move back by as much.
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

    /// Whether this subscriber was a member of the session before.
    boolean contains(final long session) {
        return find(session) >= 0;
    }

    /// The first frame that was neither delivered nor reported; `Long.MAX_VALUE` where this subscriber was no
    /// member.
    long nextFrameId(final long session) {
        final int place = find(session);
        return place < 0 ? Long.MAX_VALUE : nextFrameIds[place];
    }

    /// Whether the subscriber must not join the session again.
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
