package io.framecast.reliability.succession;

import java.util.Collection;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongPredicate;

/// Decides the succession in a host group for one of its members: whether its leader lives, which member leads
/// next, and when a successor goes on with the membership at the source. A driver reports events with their
/// times, and acts on the results. The *place* of a group is the address at which its members meet: the leader
/// listens there.
///
/// A takeover, step by step:
///
/// 1. *Heartbeat.* A leader changes a word of its segment, but only where its receiving thread worked since the
///    last heartbeat ([Term#beats]).
/// 2. *Death.* A follower leaves a leader whose connection ended ([#onGone]).
/// 3. *Standstill.* A follower leaves a leader whose heartbeat is the same at [#STILL_LOOKS] looks ([#onLook]).
///    It also leaves a leader that has shared nothing and reads no message ([#onSilentLook]).
/// 4. *Election.* The first member at the place leads, and the others follow it ([#choose]). A member with
///    nothing to go on with lets the followers of the leader before come first.
/// 5. *Claim.* A successor claims the last segment that counts, and reads its checkpoint behind the claim
///    ([#onLeads]). The leader looks for a claim behind each checkpoint that it writes. Where it finds one, it
///    reports nothing new to the source.
/// 6. *Keys.* A successor of a protected stream needs keys of its own ([Resume#mayOpen]). Then it shares a
///    segment.
/// 7. *Handover.* It waits for the survivors, the followers of the leader before ([Term#awaits]). It sends RESUME
///    when all that live have its segment, or after a while ([Resume#maySend]). Its table keeps all entries for
///    late survivors ([Term#isHandoverComplete]).
/// 8. *Fencing, reunion.* A leader that only stood still finds another leader at its place ([Term#look]). It
///    stops leading and follows, with nothing to go on with.
/// 9. *Goodbye.* A leader that leaves ends the membership only where no follower is left ([#endsMembership]).
///
/// Pure state; one thread. A [Term] and a [Resume] have a thread each.
public final class SuccessionMachine {
    /// A leader whose heartbeat did not change for so many looks stands still. The looks are counted, and not the
    /// time: the process that looks may have stood still itself.
    public static final int STILL_LOOKS = 4;

    /// For so long a member with nothing to go on with lets the followers of a leader that is gone come first.
    public static final long NEWCOMER_NS = 300_000_000;

    static final long NEWCOMER_LOOK_NS = 20_000_000;

    // A leader may have no room, so entries are spaced from the third on. The first comes at once, and so does the
    // second: the socket of a process that dies may have taken the first.
    static final int ENTRIES_AT_ONCE = 2;
    static final long ENTRY_PAUSE_MAX_NS = 100_000_000;

    // Connections to the same leader, in a row, that ended before a segment came.
    static final int REFUSALS_MAX = 3;

    private static final long NEVER = Long.MAX_VALUE;
    // Longer than any `rejoin=`, and no sum with a time overflows.
    private static final long REJOIN_MAX_NS = 1L << 60;

    /// A member's findings at the place of its group.
    public enum Found {
        /// No leader, and no trace of one.
        EMPTY,
        /// The place of a leader that died: its followers are about to come.
        VACANT,
        /// The leader that the member left because it stands still.
        STILL,
        /// A leader.
        LEADER,
        /// A leader that goes on with no membership and has no session yet. A driver that cannot see this reports
        /// [#LEADER].
        BEGINNER,
        /// A publisher of this host, which shares its own window.
        PUBLISHER
    }

    /// The state that a member has of earlier leaders.
    public enum Past {
        /// None: it is a newcomer.
        NONE,
        /// The membership behind its last segment is over.
        OVER,
        /// The membership behind its last segment may go on.
        OPEN
    }

    /// A member's act at the place of its group.
    public enum Entry {
        FOLLOW,
        LEAD,
        /// Looks again at [#nextDeadlineNs].
        WAIT,
        /// Leads a group of one, because no leader gives it a place.
        APART
    }

    /// The result of a look at the leader.
    public enum Look {
        RUNS,
        /// The driver sends a message, so that the next look shows whether the leader reads.
        PROBE,
        STANDS_STILL,
        /// Another leader is at the place.
        REPLACED
    }

    private enum Role {
        ENTERING,
        FOLLOWING,
        LEADING,
        OVER
    }

    private final SuccessionConfig config;
    private Role role = Role.ENTERING;
    // The leader is a publisher.
    private boolean publisher;
    // The present leader has shared a segment.
    private boolean shared;
    // It led, and another leader took its place.
    private boolean fenced;
    private long enterNs;
    // In a row, without a segment.
    private int entries;
    // The leader that is followed, or was; and how often that has refused this member.
    private long leader;
    private int refusals;
    // End of a newcomer's patience.
    private long newcomerNs = NEVER;
    private long lookNs = NEVER;
    private long heartbeat;
    private int stillLooks;
    // A publisher that was lost is back by then.
    private long returnNs = NEVER;

    /// A member that enters its group at once.
    public SuccessionMachine(final SuccessionConfig config, final long nowNs) {
        this.config = config;
        enterNs = nowNs;
    }

    /// Whether it has left its leader, or had none, and has no other one yet.
    public boolean isEntering() {
        return role == Role.ENTERING;
    }

    /// Whether the driver is to look at the place now, and to ask [#choose].
    public boolean isEntryDue(final long nowNs) {
        return role == Role.ENTERING && nowNs >= enterNs;
    }

    /// The member is at the place, and no other process enters meanwhile. [#onFollows] or [#onLeads] follows,
    /// unless it waits.
    ///
    /// @param present number of the leader that was found; 0 for none
    public Entry choose(final Found found, final long present, final Past past, final long nowNs) {
        return switch (found) {
            case EMPTY -> Entry.LEAD;
            case VACANT, STILL -> (past == Past.NONE || fenced) && isPatient(nowNs) ? Entry.WAIT : Entry.LEAD;
            case BEGINNER -> goesOn(past) ? Entry.LEAD : follow(present);
            case LEADER, PUBLISHER -> follow(present);
        };
    }

    private Entry follow(final long present) {
        return present == leader && refusals >= REFUSALS_MAX ? Entry.APART : Entry.FOLLOW;
    }

    private boolean isPatient(final long nowNs) {
        newcomerNs = newcomerNs == NEVER ? nowNs + NEWCOMER_NS : newcomerNs;
        enterNs = nowNs + NEWCOMER_LOOK_NS;
        return nowNs < newcomerNs;
    }

    // The source knows that another process holds the membership of a leader that was fenced.
    private boolean goesOn(final Past past) {
        return past == Past.OPEN && !fenced;
    }

    /// It has a connection to a leader.
    ///
    /// @param present number of the leader, another one for another leader
    /// @param ofPublisher whether that is a publisher, which is not judged: no member can take its place
    public void onFollows(final long present, final boolean ofPublisher, final long nowNs) {
        enterAs(Role.FOLLOWING);
        refusals = present == leader ? refusals : 0;
        leader = present;
        publisher = ofPublisher;
        fenced = false;
        lookNs = nowNs + config.beatNs();
    }

    /// It is at the place, or leads apart, and other members find it.
    ///
    /// @return whether it claims the membership behind its last segment, and goes on with that. The claim is
    ///     stored before the checkpoint is read.
    public boolean onLeads(final Past past) {
        enterAs(Role.LEADING);
        publisher = false;
        return goesOn(past);
    }

    private void enterAs(final Role entered) {
        role = entered;
        shared = false;
        newcomerNs = NEVER;
        stillLooks = 0;
    }

    /// The leader, itself perhaps, shared a segment with this member.
    public void onShared(final long firstHeartbeat, final long nowNs) {
        shared = true;
        entries = 0;
        refusals = 0;
        returnNs = NEVER;
        heartbeat = firstHeartbeat;
        stillLooks = 0;
        lookNs = nowNs + config.beatNs();
    }

    /// Whether the present leader has shared a segment.
    public boolean isShared() {
        return shared;
    }

    /// The leader has no place for this newcomer, which need not ask again: it holds nothing that a place would
    /// keep.
    public void onRefused() {
        refusals = REFUSALS_MAX - 1;
    }

    /// Whether the driver is to look at its leader now: by [#onLook] where that has shared a segment, else by
    /// [#onSilentLook]. A look costs system calls.
    public boolean isLookDue(final long nowNs) {
        return role == Role.FOLLOWING && !publisher && nowNs >= lookNs;
    }

    /// The leader's segment has that heartbeat.
    ///
    /// @return [Look#RUNS] or [Look#STANDS_STILL], with which the member has left its leader
    public Look onLook(final long present, final long nowNs) {
        stillLooks = present == heartbeat ? stillLooks + 1 : 0;
        heartbeat = present;
        return judge(Look.RUNS, nowNs);
    }

    /// A look at a leader that has shared nothing: it stood still before that, or does not even read.
    ///
    /// @param unread whether it has not read the last message to it
    /// @param replaced whether another leader is at the place
    /// @return [Look#PROBE] where the leader has read everything, [Look#RUNS] where it may still read the last
    ///     message; with the others the member has left its leader
    public Look onSilentLook(final boolean unread, final boolean replaced, final long nowNs) {
        stillLooks = unread ? stillLooks + 1 : 0;
        if (replaced) {
            leave(nowNs);
            return Look.REPLACED;
        }
        return judge(unread ? Look.RUNS : Look.PROBE, nowNs);
    }

    private Look judge(final Look otherwise, final long nowNs) {
        lookNs = nowNs + config.beatNs();
        if (stillLooks < STILL_LOOKS) {
            return otherwise;
        }
        leave(nowNs);
        return Look.STANDS_STILL;
    }

    /// No look was possible: the segment is closed.
    public void onNoLook(final long nowNs) {
        lookNs = nowNs + config.beatNs();
    }

    /// The connection to the leader ended: it died, resigned, or gave this member no place.
    ///
    /// @param wasFenced whether this member led, and another leader is at its place
    public void onGone(final boolean wasFenced, final long nowNs) {
        if (role == Role.ENTERING || role == Role.OVER) {
            return;
        }
        if (publisher && shared) {
            returnNs = nowNs + Math.min(config.rejoinNs(), REJOIN_MAX_NS);
        }
        leave(nowNs);
        fenced = wasFenced;
    }

    private void leave(final long nowNs) {
        entries++;
        refusals += shared || role == Role.LEADING ? 0 : 1;
        final long pauseNs = Math.min(ENTRY_PAUSE_MAX_NS, config.beatNs());
        enterNs = entries > ENTRIES_AT_ONCE ? nowNs + pauseNs : nowNs;
        enterAs(Role.ENTERING);
        fenced = false;
    }

    /// Whether it led, and enters or leads again because another leader took its place.
    public boolean isFenced() {
        return fenced;
    }

    /// Whether the publisher that was lost did not come back in time, nor did another source.
    public boolean isGivenUp(final long nowNs) {
        return role != Role.OVER && nowNs >= returnNs;
    }

    /// The member has no further leader: its stream is over, or it cannot go on.
    public void end() {
        role = Role.OVER;
    }

    public boolean isOver() {
        return role == Role.OVER;
    }

    /// The next time at which the driver has something to ask.
    public long nextDeadlineNs() {
        return switch (role) {
            case ENTERING -> Math.min(returnNs, enterNs);
            case FOLLOWING -> Math.min(returnNs, publisher ? NEVER : lookNs);
            case LEADING -> returnNs;
            case OVER -> NEVER;
        };
    }

    /// How long the driver may sleep: until [#nextDeadlineNs], and one beat at most.
    public long waitNs(final long nowNs) {
        final long deadlineNs = nextDeadlineNs();
        return deadlineNs == NEVER ? config.beatNs() : Math.clamp(deadlineNs - nowNs, 0, config.beatNs());
    }

    /// Whether a leader that leaves sends LEAVE to its source. Else a follower goes on with the membership, as
    /// behind a leader that died.
    public static boolean endsMembership(final long followers) {
        return followers == 0;
    }

    /// The time in which one process leads: heartbeats, survivors, and fencing. A publisher that shares its
    /// window has a term, too.
    ///
    /// One thread.
    public static final class Term {
        // Survivors that live and have not come by then stand still. The frames that were kept for them are freed.
        static final long SURVIVORS_NS = 5_000_000_000L;

        private final Set<Long> awaited = new TreeSet<>();
        private long awaitedNs = NEVER;
        private long seenCycles;
        private boolean fenced;

        /// A leader's place.
        public enum Place {
            KEPT,
            /// Its socket was removed: members that come do not find it. It listens again.
            REMOVED,
            /// Another leader is there: this one is fenced.
            TAKEN
        }

        /// The leader goes on with the membership of an earlier one.
        ///
        /// @param survivors the members that followed that one, and live, by the numbers that they name to each
        ///     leader
        public void adopt(final Collection<Long> survivors, final long nowNs) {
            awaited.addAll(survivors);
            awaitedNs = nowNs + SURVIVORS_NS;
        }

        /// A member came that followed an earlier leader.
        public void onSurvivor(final long member) {
            awaited.remove(member);
        }

        /// Drops the survivors that died, and those that do not come.
        ///
        /// @param lives whether a member lives
        /// @return whether any survivor is to come
        public boolean awaits(final LongPredicate lives, final long nowNs) {
            awaited.removeIf(member -> !lives.test(member));
            if (nowNs > awaitedNs) {
                awaited.clear();
            }
            return !awaited.isEmpty();
        }

        /// Whether the leader still waits for that member.
        public boolean isAwaited(final long member) {
            return awaited.contains(member);
        }

        /// Whether the table may let entries go: all survivors have come, and every member that came has the
        /// segment.
        ///
        /// @param members that have the segment
        /// @param arePlaced whether no member that came lacks it
        public boolean isHandoverComplete(final long members, final boolean arePlaced) {
            return awaited.isEmpty() && members > 0 && arePlaced;
        }

        /// Whether members need heartbeats: a leader alone shows none.
        ///
        /// @param connections its own subscriber's included
        public boolean mustBeat(final int connections) {
            return connections > 1 || !awaited.isEmpty();
        }

        /// A heartbeat is due.
        ///
        /// @param cycles of the receiving thread so far; 0 where the leader has none
        /// @return whether the leader shows it: the receiving thread worked since the last one
        public boolean beats(final long cycles) {
            final boolean works = cycles == 0 || cycles != seenCycles;
            seenCycles = cycles;
            return works;
        }

        /// The leader looks at its place.
        ///
        /// @param own number of its socket
        /// @param present number of the socket at the place; 0 for none
        public Place look(final long own, final long present) {
            if (present == 0) {
                return Place.REMOVED;
            }
            fenced |= present != own;
            return present == own ? Place.KEPT : Place.TAKEN;
        }

        /// Whether another leader was at its place.
        public boolean isFenced() {
            return fenced;
        }
    }

    /// A successor's way from its claim to its RESUME.
    ///
    /// One thread: the receiver's.
    public static final class Resume {
        // A successor promises the source something from its RESUME on. Members that may go on after it must have its
        // segment by then. So they come first, but not for long.
        static final long HANDOVER_MAX_NS = 1_000_000_000;
        // The source must not take the successor for silent meanwhile.
        static final int HANDOVERS_PER_SILENCE = 4;

        private final long aliveTimeoutNs;
        private long silentNs = NEVER;

        /// @param aliveTimeoutNs the stream's
        public Resume(final long aliveTimeoutNs) {
            this.aliveTimeoutNs = aliveTimeoutNs;
        }

        /// Whether the successor opens its session: it has keys of its own, or the source did not answer in time
        /// and is lost. The first call begins the wait.
        public boolean mayOpen(final boolean agreed, final long nowNs) {
            silentNs = silentNs == NEVER ? nowNs + aliveTimeoutNs : silentNs;
            return agreed || nowNs >= silentNs;
        }

        /// Whether it sends RESUME.
        ///
        /// @param complete whether every survivor has its segment
        /// @param waitedNs since it shared that, without standstills of its process
        public boolean maySend(final boolean complete, final long waitedNs) {
            return complete || waitedNs > Math.min(HANDOVER_MAX_NS, aliveTimeoutNs / HANDOVERS_PER_SILENCE);
        }
    }
}
