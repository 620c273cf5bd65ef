package io.framecast.reliability.membership;

/// The sources that a subscriber was a member of, and how long it waits for those that were lost
/// (`rejoin=`).
///
/// Pure state; one thread.
final class Rejoin {
    private static final long NEVER = Long.MAX_VALUE;
    private static final long NS_PER_MS = 1_000_000;

    private final int rejoinMs;
    private final boolean single;
    private final EndedSessions sessions = new EndedSessions();
    private long count;
    // With one source: the deadline of its return.
    private long returnNs = NEVER;

    /// @param rejoinMs time that a lost source has to return; 0: none
    /// @param single whether the subscriber follows one source at a time
    Rejoin(final int rejoinMs, final boolean single) {
        this.rejoinMs = rejoinMs;
        this.single = single;
    }

    /// Memberships so far that followed an earlier one.
    long count() {
        return count;
    }

    /// The deadline of the lost source's return; `Long.MAX_VALUE` where none is waited for.
    long deadlineNs() {
        return returnNs;
    }

    /// Whether the loss of a source ends the subscriber's stream.
    boolean endsWithSource() {
        return single && rejoinMs == 0;
    }

    /// This process stood still for this long: all deadlines move back by as much.
    void onStandstill(final long ns) {
        returnNs = returnNs == NEVER ? NEVER : returnNs + ns;
        sessions.onStandstill(ns);
    }

    /// The subscriber is a member of a session.
    ///
    /// @return whether that follows an earlier membership
    boolean onJoined(final long session) {
        final boolean again = single ? returnNs != NEVER : sessions.contains(session);
        count += again ? 1 : 0;
        returnNs = NEVER;
        return again;
    }

    /// The session ended.
    void onEnded(final long session) {
        sessions.onEnded(session);
    }

    /// The session was lost.
    ///
    /// @param nextFrameId the first frame that was neither delivered nor reported lost
    void onLost(final long session, final long nextFrameId, final long nowNs) {
        if (rejoinMs == 0) {
            sessions.onEnded(session);
            return;
        }
        final long deadlineNs = nowNs + rejoinMs * NS_PER_MS;
        sessions.onLost(session, deadlineNs, nextFrameId);
        returnNs = single ? deadlineNs : NEVER;
    }

    /// As [EndedSessions#isOver].
    boolean isOver(final long session, final long nowNs) {
        return sessions.isOver(session, nowNs);
    }

    /// As [EndedSessions#nextFrameId].
    long nextFrameId(final long session) {
        return sessions.nextFrameId(session);
    }
}
