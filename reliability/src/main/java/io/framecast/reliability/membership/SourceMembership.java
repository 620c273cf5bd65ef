package io.framecast.reliability.membership;

import io.framecast.reliability.receive.ReceiverMachine.State;

/// One membership in one session: a handshake at first, then frames, then its end. A subscriber that joins a
/// session again has another membership in it, and the earlier one stays until the user has taken everything.
///
/// Pure state; one thread, once [MembershipMachine#onOpened] took it.
public final class SourceMembership {
    // A handshake without an answer for so long must not make other sources wait.
    private static final long STALE_NS = 1_000_000_000;
    // A handshake that takes longer is reported.
    private static final long SLOW_NS = 1_000_000_000;
    private static final long OBSTACLE_INTERVAL_NS = 200_000_000;

    private final long session;
    private final Progress progress;
    private final MembershipMachine.Step lossBeforeStart;
    private long heardNs;
    private long startedNs;
    private long obstacleNs;
    private boolean joined;
    private boolean over;

    private SourceMembership(
            final long session, final Progress progress, final MembershipMachine.Step lossBeforeStart) {
        this.session = session;
        this.progress = progress;
        this.lossBeforeStart = lossBeforeStart;
    }

    /// A membership that begins with a JOIN.
    ///
    /// @param progress of the session's protocol
    public static SourceMembership joining(final long session, final Progress progress) {
        return new SourceMembership(session, progress, MembershipMachine.Step.DECLINED);
    }

    /// A membership that goes on with another receiver's, by a RESUME.
    ///
    /// @param progress of the session's protocol
    public static SourceMembership resuming(final long session, final Progress progress) {
        return new SourceMembership(session, progress, MembershipMachine.Step.GONE);
    }

    /// The session's number.
    public long session() {
        return session;
    }

    Progress progress() {
        return progress;
    }

    /// The change that follows where the source is lost before the receiver became a member.
    MembershipMachine.Step lossBeforeStart() {
        return lossBeforeStart;
    }

    /// The handshake begins, or begins to count anew because this process stood still.
    void onBegin(final long nowNs) {
        heardNs = nowNs;
        startedNs = nowNs;
    }

    /// A control datagram of the source was good.
    public void onHeard(final long nowNs) {
        heardNs = nowNs;
    }

    /// Time since the handshake began, without standstills of this process.
    public long waitedNs(final long nowNs) {
        return nowNs - startedNs;
    }

    /// Whether the subscriber knows that this session started.
    public boolean isJoined() {
        return joined;
    }

    void onJoined() {
        joined = true;
    }

    /// Whether nothing follows, and the user's queue holds everything that arrived.
    public boolean isOver() {
        return over;
    }

    void onOver() {
        over = true;
    }

    /// Whether the session delivers frames, or will.
    public boolean isReceiving() {
        return joined && !over;
    }

    /// Whether the handshake is under way.
    public boolean isJoining() {
        return !joined && !over;
    }

    /// Whether the source has been silent for too long during the handshake.
    boolean isStale(final long nowNs) {
        return nowNs - heardNs > STALE_NS;
    }

    /// Whether the handshake takes longer than expected, and its obstacle is due for a check.
    boolean isObstacleDue(final long nowNs) {
        final boolean due = waitedNs(nowNs) > SLOW_NS && nowNs >= obstacleNs;
        if (due) {
            obstacleNs = nowNs + OBSTACLE_INTERVAL_NS;
        }
        return due;
    }

    /// Whether the source ended and needs no more answers: it may have missed one, and asks again while it is
    /// there.
    ///
    /// @param nowNs `Long.MAX_VALUE` treats the source as silent
    public boolean isForgotten(final long nowNs) {
        return over && progress.state() == State.ENDED && nowNs - heardNs > progress.silenceNs();
    }
}
