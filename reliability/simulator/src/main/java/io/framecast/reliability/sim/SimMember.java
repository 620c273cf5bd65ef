package io.framecast.reliability.sim;

import io.framecast.reliability.sim.plan.Plant;
import io.framecast.reliability.sim.secure.SecureReceiver;
import io.framecast.reliability.sim.shared.ProcessDeath;
import io.framecast.reliability.sim.shared.SimSegment;
import io.framecast.reliability.sim.shared.Step;
import io.framecast.reliability.succession.SuccessionConfig;
import io.framecast.reliability.succession.SuccessionMachine;
import io.framecast.reliability.succession.SuccessionMachine.Found;
import io.framecast.reliability.succession.SuccessionMachine.Look;
import io.framecast.reliability.succession.SuccessionMachine.Past;
import java.util.Objects;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// A process of a host group. It reads its leader's segment. When the leader is gone or stands still, it follows
/// the next leader, or becomes that leader and goes on with the membership. A [SuccessionMachine] decides, as in
/// the engine; this class sees, does and waits.
final class SimMember extends SimReceiver {
    private static final SuccessionConfig TIMES = new SuccessionConfig(80_000_000, Long.MAX_VALUE);
    // Of an injected bug.
    private static final SuccessionConfig HASTY = new SuccessionConfig(20_000_000, Long.MAX_VALUE);
    private static final long BEAT_NS = TIMES.beatNs();
    // A leader that is taken for one that stands still has done nothing for so long. Clocks differ a little.
    private static final long STANDSTILL_MIN_NS = TIMES.standstillNs() * 9 / 10;
    private static final int NEVER = Integer.MAX_VALUE;

    private final SimGroup group;
    private final long number;
    private final SimFollower follower;
    private final SuccessionMachine machine;
    // The leader that it follows, itself perhaps.
    private @Nullable SimMember leader;
    private int leaderTerm;
    // The leader that it left because that stands still.
    private @Nullable SimMember still;
    // The newest segment that it was given.
    private @Nullable SimSegment shown;
    // Time, by the true clock, of the last message to a leader that has shared nothing.
    private long sentNs;
    private boolean leads;
    // Of its own leading: connections end with each.
    private int term;
    private SimGroup.Leading leading;
    private boolean excused;
    private long excusedNs;
    private int stepsLeft = NEVER;
    private @Nullable Step crashStep;

    SimMember(final SimHost host, final RandomGenerator random, final SimUser user, final SimGroup group) {
        super(host, random, user);
        this.group = group;
        follower = new SimFollower(this);
        leading = new SimGroup.Leading(this, group);
        machine = new SuccessionMachine(world().plant() == Plant.CLAIM_EARLY ? HASTY : TIMES, nowNs());
        number = group.enter(this);
        wakeAfter(0);
    }

    SimGroup group() {
        return group;
    }

    /// The number that it names to each leader.
    long number() {
        return number;
    }

    /// Counts its times of leading; one that leads again has shared nothing yet.
    int term() {
        return term;
    }

    SimFollower follower() {
        return follower;
    }

    /// Lets it die at one of its next steps.
    ///
    /// @param steps it dies at the n-th step, 1 …
    /// @param only counts steps of that kind alone; null for any
    void armCrash(final int steps, final @Nullable Step only) {
        stepsLeft = steps;
        crashStep = only;
    }

    void clearCrash() {
        stepsLeft = NEVER;
    }

    boolean isCrashArmed() {
        return stepsLeft != NEVER;
    }

    /// Whether it rightly lost the stream: it stood still.
    boolean isExcused() {
        return excused;
    }

    /// It reads a segment that it was given at that time, by the true clock.
    void onMoved(final long givenNs) {
        if (givenNs >= excusedNs) {
            excused = false;
        }
    }

    private void excuse() {
        excused = true;
        excusedNs = trueNs();
    }

    @Override
    void pass(final Step step) {
        if (isCrashArmed() && (crashStep == null || crashStep == step) && --stepsLeft <= 0) {
            throw new ProcessDeath();
        }
    }

    private long trueNs() {
        return events().nowNs();
    }

    @Override
    int cycle() {
        try {
            int work = 0;
            if (leads) {
                work += super.cycle();
                work += lead();
            } else {
                inbox().clear();
            }
            watchLeader();
            if (machine.isEntryDue(nowNs())) {
                enter();
            }
            return work + (follower.advance() ? 1 : 0);
        } catch (final ProcessDeath e) {
            host().crash();
            return 0;
        }
    }

    @Override
    boolean listens() {
        return leads;
    }

    @Override
    boolean mayJoin(final SimSession session) {
        return leads
                && !leading.isGoingOn()
                && leading.isWanted(session)
                && receptions().stream().noneMatch(one -> one.source() == session)
                && receptions().stream().allMatch(one -> one.isLost() || one.isEnded());
    }

    @Override
    void add(final SimReception made) {
        super.add(made);
        leading.offer(made);
    }

    /// Whether the host's leader is a member.
    @Override
    boolean attends(final SimSession session) {
        final SimMember present = group.leader();
        return present == this ? super.attends(session) : present != null && present.attends(session);
    }

    // As a leader.
    private int lead() {
        final int work = leading.work();
        if (work < 0) {
            // It stood still so long that another one leads now.
            excuse();
            stopLeading();
            return 1;
        }
        return work;
    }

    /// Whether that one is the leader that it follows.
    boolean follows(final SimMember other) {
        return leader == other;
    }

    /// The successor goes on without it: a death of the successor would leave it with nothing.
    void leaveOut(final long sinceNs) {
        // One that stood still until shortly before needs all of its looks.
        if (pausedUntilNs() == 0 || pausedUntilNs() + TIMES.standstillNs() <= sinceNs) {
            world().violation("member " + host().address() + ": is left out though it runs");
        }
        excuse();
    }

    private void watchLeader() {
        final SimMember known = leader;
        if (known == null) {
            return;
        }
        if (known.isStopped() || !known.leads || known.term != leaderTerm) {
            leader = null;
            still = null;
            machine.onGone(known == this && leading.isFenced(), nowNs());
            return;
        }
        final SimSharing.View newest = follower.newest();
        final SimSharing.View shared = newest != null && newest.isOf(known, leaderTerm) ? newest : null;
        if (shared != null && shared.segment() != shown) {
            shown = shared.segment();
            machine.onShared(shared.heartbeat(), nowNs());
        }
        if (machine.isLookDue(nowNs())) {
            look(known, shared);
        }
    }

    private void look(final SimMember known, final SimSharing.@Nullable View shared) {
        final Look look = shared == null
                ? machine.onSilentLook(known.leading.workedNs() < sentNs, isReplaced(known), nowNs())
                : machine.onLook(shared.heartbeat(), nowNs());
        if (look == Look.PROBE) {
            sentNs = trueNs();
        } else if (look == Look.STANDS_STILL || look == Look.REPLACED) {
            leader = null;
            still = known;
            if (look == Look.STANDS_STILL) {
                checkStandstill(known);
            }
        }
    }

    private boolean isReplaced(final SimMember known) {
        final SimMember present = group.leader();
        return present == null ? group.awaitsSuccessor() : present != known;
    }

    private void checkStandstill(final SimMember known) {
        final long ns = trueNs() - known.leading.workedNs();
        if (ns < STANDSTILL_MIN_NS) {
            world().violation("member " + host().address() + ": takes its leader, which worked " + ns / 1000
                    + " us ago, for one that stands still");
        }
    }

    // Follows the present leader, or leads.
    private void enter() {
        final SimMember present = group.leader();
        follower.onLeaderGone();
        final SimSharing.View last = follower.last();
        final Past past = last == null ? Past.NONE : last.mayGoOn() ? Past.OPEN : Past.OVER;
        switch (machine.choose(find(present), present == null ? 0 : present.number, past, nowNs())) {
            case FOLLOW -> {
                final SimMember found = Objects.requireNonNull(present);
                if (pausedUntilNs() > found.leading.sinceNs()) {
                    // Another process went on while it stood still.
                    excuse();
                }
                machine.onFollows(found.number, false, nowNs());
                follow(found, last);
            }
            case LEAD -> lead(last, machine.onLeads(past));
            case WAIT -> {}
            case APART -> world().violation("member " + host().address() + ": leads apart though there is room");
        }
    }

    private Found find(final @Nullable SimMember present) {
        if (present == null) {
            return group.awaitsSuccessor() ? Found.VACANT : Found.EMPTY;
        }
        if (present == still && present.term == leaderTerm) {
            return Found.STILL;
        }
        return present.leading.hasPast() ? Found.LEADER : Found.BEGINNER;
    }

    private void follow(final SimMember present, final SimSharing.@Nullable View last) {
        leader = present;
        leaderTerm = present.term;
        shown = null;
        sentNs = trueNs();
        present.leading.connect(this, last == null ? null : last.segment());
        present.wakeAfter(random().nextInt(50_000));
    }

    private void lead(final SimSharing.@Nullable View last, final boolean goesOn) {
        group.lead(this);
        leads = true;
        listen();
        term++;
        leading = new SimGroup.Leading(this, group);
        follow(this, last);
        if (goesOn) {
            leading.takeOver(Objects.requireNonNull(last));
        }
        wakeAfter(0);
        group.wakeAll();
    }

    private void stopLeading() {
        leads = false;
        for (final SimReception reception : receptions()) {
            reception.drop();
        }
        final SecureReceiver secure = secure();
        if (secure != null) {
            receptions().forEach(reception -> secure.forget(reception.source().nonce()));
        }
        leading.end();
        forgetMemberships();
        group.onEnd(this);
    }

    // Leaves the host's other processes with the membership, if there are any.
    @Override
    void leave() {
        // It ends here, and not between two steps.
        clearCrash();
        follower.leave();
        final long followers = group.members().stream()
                .filter(other -> other != this && other.leader == this && !other.isStopped())
                .count();
        if (leads && SuccessionMachine.endsMembership(followers)) {
            super.leave();
        }
        if (leads) {
            stopLeading();
        }
    }

    @Override
    void conclude() {
        super.conclude();
        if (isStopped()) {
            group.onEnd(this);
        }
    }

    // A process that does not lead has nothing else to do: datagrams sent to it are dropped.
    @Override
    long nextDeadlineNs() {
        return leads
                ? Math.min(super.nextDeadlineNs(), nowNs() + BEAT_NS)
                : Math.max(nowNs() + 1, machine.nextDeadlineNs());
    }

    @Override
    boolean isSettled(final SimSession last) {
        return !leading.isGoingOn()
                && receptions().stream().allMatch(SimReception::isFinished)
                && follower.isSettled(last);
    }

    @Override
    String describe() {
        return follower.describe() + (leads ? ", leads: " + super.describe() : "") + leading.describe();
    }
}
