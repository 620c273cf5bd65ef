package io.framecast.reliability.sim;

import io.framecast.reliability.group.Promise;
import io.framecast.reliability.receive.Checkpoint;
import io.framecast.reliability.sim.plan.Plant;
import io.framecast.reliability.sim.record.SimCount;
import io.framecast.reliability.sim.secure.SecureReceiver;
import io.framecast.reliability.sim.shared.ProcessDeath;
import io.framecast.reliability.sim.shared.SimSegment;
import io.framecast.reliability.sim.shared.Step;
import io.framecast.reliability.succession.SuccessionConfig;
import io.framecast.reliability.succession.SuccessionMachine;
import io.framecast.reliability.succession.SuccessionMachine.Found;
import io.framecast.reliability.succession.SuccessionMachine.Look;
import io.framecast.reliability.succession.SuccessionMachine.Past;
import io.framecast.reliability.succession.SuccessionMachine.Term;
import io.framecast.reliability.wire.StreamInfo;
import java.util.ArrayList;
import java.util.List;
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
    private Term leading = new Term();
    private long cycles;
    // The last time, by the true clock, at which it worked as a leader.
    private long workedNs;
    private final List<Connection> connections = new ArrayList<>();
    // A membership to go on with, until there are keys of its own.
    private @Nullable Adoption adopted;
    // The membership that goes on, until RESUME is sent.
    private @Nullable SimReception successor;
    // The session whose segment members get.
    private @Nullable SimReception newest;
    private SuccessionMachine.Resume resume = new SuccessionMachine.Resume(SimSource.ALIVE_TIMEOUT_NS);
    private long leadsSinceNs;
    private boolean excused;
    private long excusedNs;
    private int stepsLeft = NEVER;
    private @Nullable Step crashStep;

    /// A membership that a process goes on with.
    private record Adoption(SimFollower.View last, StreamInfo stream, SimReception.Past past) {}

    /// @param last the segment that it would go on with
    private record Connection(SimMember member, @Nullable SimSegment last) {}

    SimMember(final SimHost host, final RandomGenerator random, final SimUser user, final SimGroup group) {
        super(host, random, user);
        this.group = group;
        follower = new SimFollower(this);
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
                && adopted == null
                && successor == null
                && isWanted(session)
                && receptions().stream().noneMatch(one -> one.source() == session)
                && receptions().stream().allMatch(one -> one.isLost() || one.isEnded());
    }

    @Override
    void add(final SimReception made) {
        super.add(made);
        offer(made);
    }

    // No member comes to an earlier segment any more.
    private void offer(final SimReception made) {
        if (newest != null && newest != made) {
            sharing(newest).table().onHandoverComplete();
        }
        newest = made;
    }

    /// Whether the host's leader is a member.
    @Override
    boolean attends(final SimSession session) {
        final SimMember present = group.leader();
        return present == this ? super.attends(session) : present != null && present.attends(session);
    }

    // True when a process here lacks the session's end.
    private boolean isWanted(final SimSession session) {
        return connections.stream().anyMatch(one -> !one.member.isStopped() && !one.member.follower.hasEnded(session));
    }

    // As a leader: signs of life, members that come, and the membership that waits for them.
    private int lead() {
        workedNs = trueNs();
        final SimMember present = group.leader();
        if (leading.look(number, present == null ? 0 : present.number) != Term.Place.KEPT) {
            // It stood still so long that another one leads now.
            excuse();
            stopLeading();
            return 1;
        }
        int work = goOn() ? 1 : 0;
        // In the newest segment, also when its session is over: members wait for the next one.
        if (leading.beats(++cycles) && newest != null) {
            sharing(newest).table().beat();
        }
        for (final SimReception reception : receptions()) {
            work += sharing(reception).dismissGone();
        }
        leading.awaits(group::lives, nowNs());
        final SimReception waiting = successor;
        if (waiting != null) {
            work += sharing(waiting).dismissGone();
        }
        final SimReception offered = newest;
        if (offered != null && (offered == waiting || receptions().contains(offered))) {
            work += share(offered);
            completeHandover(offered);
        }
        if (waiting != null) {
            sendResume(waiting);
        }
        return work;
    }

    // A member shares each of its sessions.
    private static SimSharing sharing(final SimReception reception) {
        return Objects.requireNonNull(reception.sharing());
    }

    // Members that were in an earlier session's segment need not come back to it.
    private int share(final SimReception reception) {
        final SimSharing sharing = sharing(reception);
        int work = 0;
        for (final Connection one : connections) {
            if (isConnected(one.member) && !sharing.has(one.member)) {
                final SimSegment before = sharing.predecessor();
                sharing.admit(
                        one.member,
                        before != null && before == one.last && sharing.table().isAwaiting());
                work++;
            }
        }
        return work;
    }

    private boolean isConnected(final SimMember member) {
        return !member.isStopped() && member.leader == this;
    }

    private void completeHandover(final SimReception reception) {
        final SimSharing sharing = sharing(reception);
        if (!sharing.table().isAwaiting()) {
            return;
        }
        final boolean arePlaced =
                connections.stream().allMatch(one -> !isConnected(one.member) || sharing.has(one.member));
        if (leading.isHandoverComplete(sharing.table().members(), arePlaced)) {
            sharing.table().onHandoverComplete();
            group.wakeAll();
        }
    }

    private void sendResume(final SimReception waiting) {
        final boolean complete = !sharing(waiting).table().isAwaiting();
        if (!resume.maySend(complete || world().plant() == Plant.RESUME_ALONE, trueNs() - leadsSinceNs)) {
            return;
        }
        group.members().stream()
                .filter(late -> leading.isAwaited(late.number))
                .forEach(late -> late.leaveOut(leadsSinceNs));
        successor = null;
        add(waiting);
        world().count(SimCount.TAKEOVERS);
        waiting.resume();
        group.wakeAll();
    }

    // The successor goes on without it: a death of the successor would leave it with nothing.
    private void leaveOut(final long sinceNs) {
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
        final SimFollower.View newest = follower.newest();
        final SimFollower.View shared = newest != null && newest.isOf(known, leaderTerm) ? newest : null;
        if (shared != null && shared.segment() != shown) {
            shown = shared.segment();
            machine.onShared(shared.heartbeat(), nowNs());
        }
        if (machine.isLookDue(nowNs())) {
            look(known, shared);
        }
    }

    private void look(final SimMember known, final SimFollower.@Nullable View shared) {
        final Look look = shared == null
                ? machine.onSilentLook(known.workedNs < sentNs, isReplaced(known), nowNs())
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
        final long ns = trueNs() - known.workedNs;
        if (ns < STANDSTILL_MIN_NS) {
            world().violation("member " + host().address() + ": takes its leader, which worked " + ns / 1000
                    + " us ago, for one that stands still");
        }
    }

    // Follows the present leader, or leads.
    private void enter() {
        final SimMember present = group.leader();
        follower.onLeaderGone();
        final SimFollower.View last = follower.last();
        final Past past = last == null ? Past.NONE : last.mayGoOn() ? Past.OPEN : Past.OVER;
        switch (machine.choose(find(present), present == null ? 0 : present.number, past, nowNs())) {
            case FOLLOW -> {
                final SimMember found = Objects.requireNonNull(present);
                if (pausedUntilNs() > found.leadsSinceNs) {
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
        return present.hasPast() ? Found.LEADER : Found.BEGINNER;
    }

    // Whether it goes on with a membership, or has one already.
    private boolean hasPast() {
        return adopted != null
                || successor != null
                || receptions().stream().anyMatch(one -> sharing(one).counts());
    }

    private void follow(final SimMember present, final SimFollower.@Nullable View last) {
        leader = present;
        leaderTerm = present.term;
        shown = null;
        sentNs = trueNs();
        present.connections.removeIf(one -> one.member == this);
        present.connections.add(new Connection(this, last == null ? null : last.segment()));
        if (last != null) {
            present.leading.onSurvivor(number);
        }
        present.wakeAfter(random().nextInt(50_000));
    }

    private void lead(final SimFollower.@Nullable View last, final boolean goesOn) {
        group.lead(this);
        leads = true;
        listen();
        term++;
        leading = new Term();
        connections.clear();
        leadsSinceNs = trueNs();
        workedNs = trueNs();
        follow(this, last);
        if (goesOn) {
            takeOver(Objects.requireNonNull(last));
        }
        wakeAfter(0);
        group.wakeAll();
    }

    private void takeOver(final SimFollower.View last) {
        // The claim comes first: from now on the leader reports nothing new to its source.
        final int claim = claim(last);
        final Promise found = last.table().promise(last.stream().channel());
        if (found == null) {
            world().violation("member " + host().address() + ": finds no promise that makes sense");
            return;
        }
        final Checkpoint from = found.checkpoint();
        if (world().plant() == Plant.TAKE_OVER_LATE) {
            from.skipTo(from.firstSequence + 1, from.frameId);
        }
        final int slotBytes = found.stream().slotBytes();
        final byte[] payload =
                last.segment().read(found.offset(), (int) (from.acknowledged - from.firstSequence) * slotBytes);
        final List<Long> survivors = last.followersToAwait().stream()
                .filter(member -> member != last.leader() && member != this)
                .map(SimMember::number)
                .toList();
        leading.adopt(survivors, nowNs());
        final SimReception.Past past = new SimReception.Past(last.reception(), last.table(), claim, from, payload);
        adopted = new Adoption(last, found.stream(), past);
        resume = new SuccessionMachine.Resume(found.stream().aliveTimeoutNs());
        goOn();
    }

    private int claim(final SimFollower.View last) {
        if (world().plant() == Plant.LEAVE_UNFENCED && last.table().isNewest(0)) {
            last.table().leave();
            return 0;
        }
        return last.table().claim();
    }

    // With keys of its own where streams are protected.
    private boolean goOn() {
        final Adoption from = adopted;
        if (from == null || !resume.mayOpen(isAgreed(from), nowNs())) {
            return false;
        }
        adopted = null;
        leadsSinceNs = trueNs();
        final SimSession source = from.last.source();
        final SimReception made = new SimReception(this, source, from.stream, from.past);
        source.add(made);
        successor = made;
        offer(made);
        return true;
    }

    private boolean isAgreed(final Adoption from) {
        final SecureReceiver secure = secure();
        return secure == null || secure.agree(from.last.source().nonce(), SimSource.CONTROL_ADDRESS, nowNs());
    }

    private void stopLeading() {
        leads = false;
        for (final SimReception reception : receptions()) {
            reception.drop();
        }
        forgetKeys();
        forgetMemberships();
        adopted = null;
        successor = null;
        newest = null;
        connections.clear();
        group.onEnd(this);
    }

    private void forgetKeys() {
        final SecureReceiver secure = secure();
        if (secure == null) {
            return;
        }
        receptions().forEach(reception -> secure.forget(reception.source().nonce()));
        if (successor != null) {
            secure.forget(successor.source().nonce());
        }
        if (adopted != null) {
            secure.forget(adopted.last.source().nonce());
        }
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
        return adopted == null
                && successor == null
                && receptions().stream().allMatch(SimReception::isFinished)
                && follower.isSettled(last);
    }

    @Override
    String describe() {
        return follower.describe()
                + (leads ? ", leads: " + super.describe() : "")
                + (adopted == null ? "" : ", waits for keys")
                + (successor == null ? "" : ", waits for survivors");
    }
}
