package io.framecast.reliability.membership;

import io.framecast.reliability.flow.Standstill;
import io.framecast.reliability.wire.LeaveLayout.Reason;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The memberships of one subscriber in the sessions of its sources: it decides which source the subscriber joins
/// and when, when it gives a join up and for how long it ignores that source, whether it joins a lost source
/// again, and when nothing follows any more.
///
/// The caller hears a heartbeat and asks [#isWanted] and [#room]. It opens the session ([#onOpening]), which takes
/// time: [#onOpened], [#onNotOpened] or [#onOpenFailed] follow. From then on [#step] returns the changes of the
/// membership in each cycle, and [#onFreed] ends it. A membership that is over keeps its place until then, because its
/// user may still hold frames; the same session may have a later membership meanwhile.
///
/// - **Join**: one source after another, so that forged sources take one place at most. A session that announces
///   its end is not joined.
/// - **Back off**: a session whose join failed is ignored for a second, and twice as long after each further
///   failure ([JoinBackoff]).
/// - **Rejoin**: a member that loses its source joins the same session again at the next heartbeat, without a
///   back-off, until `rejoin` has passed ([EndedSessions]). The machine keeps the first frame that the earlier
///   membership neither delivered nor reported ([#nextFrameId]); the later one reports the frames from there to
///   its own start as lost. A subscriber of one source takes any session for the return of the lost one, and ends
///   when none came in time.
/// - **End**: a session that ended is never joined again. A subscriber of one source ends with it; a subscriber
///   of several answers the source until that is silent ([SourceMembership#isForgotten]).
/// - **Standstill**: time in which this process did not run counts neither for a handshake nor for `rejoin`.
///
/// No I/O, clock or thread: one caller, times in nanoseconds since the engine's start. The caller runs a cycle at least
/// every second, or the gap counts as a standstill.
public final class MembershipMachine {
    private static final long NEVER = Long.MAX_VALUE;
    // A quarter of this time between two duty cycles counts as a standstill: the receiver read nothing meanwhile.
    private static final long STANDSTILL_NS = 4_000_000_000L;
    // Memberships that are over stay until the user has taken everything.
    private static final int PLACES_PER_SOURCE = 2;

    /// The user's terms.
    ///
    /// @param sources that the subscriber follows at a time
    /// @param rejoinMs time that a lost source has to return; 0: none
    /// @param ringIsGiven whether the user chose the length of the ring, which no other session makes longer
    public record Terms(int sources, int rejoinMs, boolean ringIsGiven) {
        public Terms {
            if (sources < 1 || rejoinMs < 0) {
                throw new IllegalArgumentException(
                        "sources and rejoin: expected 1 … and 0 …, got " + sources + " and " + rejoinMs);
            }
        }
    }

    /// The place for one more source.
    public enum Room {
        /// There is one.
        FREE,
        /// Another source is being joined.
        TAKEN,
        /// The source that is being joined fell silent. It is declined, its session is ignored for a while, and
        /// the caller frees it.
        SILENT,
        /// Memberships that are over have all places. The caller closes the lanes of those that
        /// [SourceMembership#isForgotten] at the end of time.
        FULL
    }

    /// A change of a membership.
    public enum Step {
        /// Nothing new.
        NONE,
        /// The receiver is a member.
        JOINED,
        /// The receiver is a member, where the subscriber was one before.
        REJOINED,
        /// The handshake takes long: its obstacle can be reported.
        SLOW,
        /// The stream ended, and everything was delivered.
        ENDED,
        /// The source is lost, and everything that had come was delivered.
        LOST,
        /// The source of a membership that goes on here was lost with the earlier receiver.
        GONE,
        /// The source refused the join, or did not answer. Its session is ignored for a while; the caller frees
        /// it.
        DECLINED,
        /// No source will do: the ring that the user chose is too short.
        UNFIT
    }

    private final Terms terms;
    private final Rejoin rejoin;
    private final JoinBackoff backoff = new JoinBackoff();
    private final Standstill standstill = new Standstill(STANDSTILL_NS);
    private final List<SourceMembership> memberships = new ArrayList<>();
    // The caller is opening a session.
    private boolean opening;
    private boolean over;

    public MembershipMachine(final Terms terms) {
        this.terms = terms;
        rejoin = new Rejoin(terms.rejoinMs, isSingle());
    }

    private boolean isSingle() {
        return terms.sources == 1;
    }

    /// A duty cycle begins.
    ///
    /// @return how long this process stood still before it, in nanoseconds; else 0. The caller then gives the
    ///     source that is being joined time to answer
    public long onCycle(final long nowNs) {
        final long stoodNs = standstill.onCycle(nowNs);
        if (stoodNs > 0) {
            rejoin.onStandstill(stoodNs);
            final SourceMembership joining = joining();
            if (joining != null) {
                joining.onBegin(nowNs);
            }
        }
        return stoodNs;
    }

    /// Whether the subscriber would join one more source.
    public boolean isListening() {
        return !over && !opening && receiving() < terms.sources;
    }

    /// Whether the subscriber would join a session that it hears, and of which it is no member.
    ///
    /// @param ends whether the heartbeat announces the end of the stream
    public boolean isWanted(final long session, final boolean ends, final long nowNs) {
        return isListening() && !ends && !backoff.contains(session, nowNs) && !rejoin.isOver(session, nowNs);
    }

    /// Whether a session that is wanted has a place.
    public Room room(final long nowNs) {
        final SourceMembership joining = joining();
        if (joining == null) {
            return memberships.size() < PLACES_PER_SOURCE * terms.sources ? Room.FREE : Room.FULL;
        }
        if (!joining.isStale(nowNs)) {
            return Room.TAKEN;
        }
        decline(joining, nowNs);
        return Room.SILENT;
    }

    /// The caller opens a session.
    public void onOpening() {
        opening = true;
    }

    /// The session is open, and its handshake begins.
    public void onOpened(final SourceMembership made, final long nowNs) {
        opening = false;
        made.onBegin(nowNs);
        memberships.add(made);
    }

    /// The session could not be opened, because of what its source announces.
    public void onNotOpened(final long session, final long nowNs) {
        opening = false;
        backoff.add(session, nowNs);
    }

    /// The session could not be opened, for a cause that is not its source's.
    ///
    /// @return whether the subscriber fails; else it goes on with its other sources
    public boolean onOpenFailed(final long session, final long nowNs) {
        opening = false;
        if (isSingle() || memberships.isEmpty()) {
            return true;
        }
        backoff.add(session, nowNs);
        return false;
    }

    /// The caller gives a handshake up. Its session is ignored for a while; the caller frees it.
    public void decline(final SourceMembership one, final long nowNs) {
        one.onOver();
        backoff.add(one.session(), nowNs);
    }

    /// The next change of a membership. The caller asks again until that is NONE; behind ENDED, LOST, GONE and
    /// UNFIT it asks [#isOver].
    public Step step(final SourceMembership one, final long nowNs) {
        if (over) {
            return Step.NONE;
        }
        final Progress progress = one.progress();
        if (progress.isStarted() && !one.isJoined()) {
            one.onJoined();
            return rejoin.onJoined(one.session()) ? Step.REJOINED : Step.JOINED;
        }
        if (one.isOver()) {
            return Step.NONE;
        }
        return switch (progress.state()) {
            case JOINING, PROBING, STARTING -> one.isObstacleDue(nowNs) ? Step.SLOW : Step.NONE;
            case RECEIVING -> Step.NONE;
            case ENDED -> progress.isEnded() ? end(one) : Step.NONE;
            case LOST -> onLost(one, nowNs);
            case REFUSED -> onRefused(one, nowNs);
        };
    }

    private Step end(final SourceMembership one) {
        one.onOver();
        rejoin.onEnded(one.session());
        over = isSingle();
        return Step.ENDED;
    }

    // Frames that were complete when the source was lost are delivered first.
    private Step onLost(final SourceMembership one, final long nowNs) {
        if (one.isJoined()) {
            return one.progress().isEnded() ? lose(one, Step.LOST, nowNs) : Step.NONE;
        }
        if (one.lossBeforeStart() == Step.GONE) {
            return lose(one, Step.GONE, nowNs);
        }
        decline(one, nowNs);
        return Step.DECLINED;
    }

    private Step lose(final SourceMembership one, final Step step, final long nowNs) {
        one.onOver();
        rejoin.onLost(one.session(), one.progress().nextFrameId(), nowNs);
        over = rejoin.endsWithSource();
        return step;
    }

    private Step onRefused(final SourceMembership one, final long nowNs) {
        if (one.progress().lostReason() == Reason.RING_TOO_SMALL && terms.ringIsGiven && isSingle()) {
            over = true;
            return Step.UNFIT;
        }
        decline(one, nowNs);
        return Step.DECLINED;
    }

    /// The caller freed a membership: the user has given everything back.
    public void onFreed(final SourceMembership one) {
        memberships.remove(one);
    }

    /// Runs the timer of the return of a lost source.
    ///
    /// @return whether the only source did not return in time: then nothing follows. A session that was being
    ///     joined before the deadline may still complete
    public boolean onTick(final long nowNs) {
        final boolean vain = nextDeadlineNs() <= nowNs;
        over |= vain;
        return vain;
    }

    /// The time at which [#onTick] has something to do.
    public long nextDeadlineNs() {
        return over || opening || joining() != null ? NEVER : rejoin.deadlineNs();
    }

    /// Nothing follows, for a cause that the machine does not know.
    public void onFailed() {
        over = true;
    }

    /// Whether nothing follows: the only source ended or did not return, or the subscriber failed.
    public boolean isOver() {
        return over;
    }

    /// Whether the caller is opening a session.
    public boolean isOpening() {
        return opening;
    }

    /// The number of memberships that deliver frames.
    public int receiving() {
        int count = 0;
        for (int i = 0; i < memberships.size(); i++) {
            count += memberships.get(i).isReceiving() ? 1 : 0;
        }
        return count;
    }

    /// The membership whose handshake is under way, or null.
    public @Nullable SourceMembership joining() {
        for (int i = 0; i < memberships.size(); i++) {
            if (memberships.get(i).isJoining()) {
                return memberships.get(i);
            }
        }
        return null;
    }

    /// Memberships so far that followed an earlier one.
    public long rejoins() {
        return rejoin.count();
    }

    /// The first frame of a session that was neither delivered nor reported lost; `Long.MAX_VALUE` where the
    /// subscriber was no member.
    public long nextFrameId(final long session) {
        return rejoin.nextFrameId(session);
    }
}
