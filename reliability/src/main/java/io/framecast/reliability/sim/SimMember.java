package io.framecast.reliability.sim;

import io.framecast.reliability.receive.Checkpoint;
import io.framecast.reliability.sim.plan.Plant;
import io.framecast.reliability.sim.record.SimCount;
import io.framecast.reliability.sim.secure.SecureReceiver;
import io.framecast.reliability.sim.shared.ProcessDeath;
import io.framecast.reliability.sim.shared.SharedSegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// A process of a host group. It reads its leader's segment. When the leader is gone or stands still, it follows
/// the next leader, or becomes that leader and goes on with the membership.
///
/// A successor makes a segment of its own. It sends RESUME to the source only when every survivor has that segment: a
/// death before then leaves the membership as it was.
final class SimMember extends SimReceiver {
    private static final long BEAT_NS = 20_000_000;
    private static final int STILL_LOOKS = 4;
    // A member that has not come by then stands still.
    private static final long HANDOVER_NS = SimSource.ALIVE_TIMEOUT_NS / 4;
    // A newcomer lets the followers of a leader that died, or stands still, come first.
    private static final long FIRST_NS = 3 * BEAT_NS;
    private static final int NEVER = Integer.MAX_VALUE;
    private static final long NEVER_WAITED = Long.MIN_VALUE;

    private final SimGroup group;
    private final SimFollower follower;
    // The leader that it follows, itself perhaps.
    private @Nullable SimMember leader;
    private int leaderTerm;
    private boolean leads;
    // Of its own leading: connections end with each.
    private int term;
    private final List<Connection> connections = new ArrayList<>();
    // A membership to go on with, until there are keys of its own.
    private @Nullable Adoption adopted;
    // The membership that goes on, until RESUME is sent.
    private @Nullable SimReception successor;
    private final List<SimMember> followersToAwait = new ArrayList<>();
    private long leadsSinceNs;
    private boolean excused;
    private long excusedNs;
    private int stepsLeft = NEVER;
    private SharedSegment.@Nullable Step crashStep;
    private long lookNs;
    // How long it waits as a newcomer; NEVER_WAITED before.
    private long firstNs = NEVER_WAITED;
    private long beat;
    private int stillLooks;

    /// A membership that a process goes on with.
    private record Adoption(
            SimFollower.View last, SimReception.Past past, List<SimMember> followersToAwait, long sinceNs) {}

    /// @param last the segment that it would go on with
    private record Connection(SimMember member, @Nullable SharedSegment last) {}

    SimMember(final SimHost host, final RandomGenerator random, final SimUser user, final SimGroup group) {
        super(host, random, user);
        this.group = group;
        follower = new SimFollower(this);
        group.enter(this);
        wakeAfter(0);
    }

    SimGroup group() {
        return group;
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
    void armCrash(final int steps, final SharedSegment.@Nullable Step only) {
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
    void pass(final SharedSegment.Step step) {
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
            look();
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
                && receptions().stream().allMatch(one -> one.isLost() || one.isEnded())
                && super.mayJoin(session);
    }

    // True when a process here lacks the session's end.
    private boolean isWanted(final SimSession session) {
        return connections.stream().anyMatch(one -> !one.member.isStopped() && !one.member.follower.hasEnded(session));
    }

    // As a leader: signs of life, members that come, and the membership that waits for them.
    private int lead() {
        if (group.leader() != this) {
            // It stood still so long that another one leads now.
            excuse();
            stopLeading();
            return 1;
        }
        int work = goOn() ? 1 : 0;
        for (final SimReception reception : receptions()) {
            work += share(reception);
        }
        final SimReception waiting = successor;
        if (waiting != null) {
            work += share(waiting);
            completeHandover(waiting);
        }
        return work;
    }

    private int share(final SimReception reception) {
        final SimTable table = reception.table();
        if (table == null) {
            return 0;
        }
        table.segment().beat();
        int work = 0;
        for (final Connection one : connections) {
            if (!one.member.isStopped() && one.member.leader == this && !table.has(one.member)) {
                final SharedSegment before = table.segment().predecessor();
                table.admit(one.member, before != null && before == one.last && table.isAwaiting());
                work++;
            }
        }
        return work;
    }

    private void completeHandover(final SimReception waiting) {
        final SimTable table = Objects.requireNonNull(waiting.table());
        followersToAwait.removeIf(member -> member.isStopped() || table.has(member));
        if (!followersToAwait.isEmpty() && trueNs() - leadsSinceNs <= HANDOVER_NS) {
            return;
        }
        for (final SimMember late : followersToAwait) {
            late.leaveOut(leadsSinceNs);
        }
        followersToAwait.clear();
        table.onHandoverComplete();
        successor = null;
        add(waiting);
        world().count(SimCount.TAKEOVERS);
        waiting.resume();
        group.wakeAll();
    }

    // The successor waited for it in vain.
    private void leaveOut(final long sinceNs) {
        if (pausedUntilNs() <= sinceNs) {
            world().violation("member " + host().address() + ": is left out though it runs");
        }
        excuse();
    }

    // Looks whether there is a leader that runs.
    private void look() {
        final SimMember known = leader;
        if (known == null || known.isStopped() || !known.leads || known.term != leaderTerm) {
            move(null);
            return;
        }
        if (known == this || nowNs() < lookNs) {
            return;
        }
        lookNs = nowNs() + BEAT_NS;
        if (group.leader() != known) {
            // Another one listens in its place, whether or not this one had a segment of it.
            move(null);
            return;
        }
        final SimFollower.View last = follower.newest();
        final long seen = last == null ? 0 : last.heartbeat();
        stillLooks = last != null && last.isOf(known, leaderTerm) && seen == beat ? stillLooks + 1 : 0;
        beat = seen;
        firstNs = stillLooks == 0 ? NEVER_WAITED : firstNs;
        if (stillLooks >= STILL_LOOKS) {
            move(known);
        }
    }

    // Follows the present leader, or leads.
    private void move(final @Nullable SimMember still) {
        stillLooks = 0;
        lookNs = nowNs() + BEAT_NS;
        final SimMember present = group.leader();
        follower.onLeaderGone();
        final SimFollower.View last = follower.last();
        final boolean mayGoOn = last != null && last.mayGoOn();
        if (present != null && present != still && present != this && (!mayGoOn || present.hasPast())) {
            if (pausedUntilNs() > present.leadsSinceNs) {
                // Another process went on while it stood still.
                excuse();
            }
            follow(present, last);
            return;
        }
        if (last == null && (still != null || group.awaitsSuccessor()) && waitsAsNewcomer()) {
            return;
        }
        group.lead(this);
        leads = true;
        listen();
        term++;
        connections.clear();
        leadsSinceNs = trueNs();
        follow(this, last);
        if (mayGoOn && last != null) {
            takeOver(last, still);
        }
        wakeAfter(0);
        group.wakeAll();
    }

    private boolean waitsAsNewcomer() {
        firstNs = firstNs == NEVER_WAITED ? nowNs() + FIRST_NS : firstNs;
        return nowNs() < firstNs;
    }

    // Whether it goes on with a membership, or has one already. A newcomer that does not gives way to a survivor.
    private boolean hasPast() {
        return adopted != null || successor != null || receptions().stream().anyMatch(SimMember::counts);
    }

    private static boolean counts(final SimReception reception) {
        final SimTable table = reception.table();
        return table != null && table.segment().counts();
    }

    private void follow(final SimMember present, final SimFollower.@Nullable View last) {
        firstNs = NEVER_WAITED;
        leader = present;
        leaderTerm = present.term;
        present.connections.removeIf(one -> one.member == this);
        present.connections.add(new Connection(this, last == null ? null : last.segment()));
        present.wakeAfter(random().nextInt(50_000));
    }

    private void takeOver(final SimFollower.View last, final @Nullable SimMember still) {
        // The claim comes first: from now on the leader reports nothing new to its source.
        final long claim = last.segment().claim();
        final SharedSegment.Found found = last.segment().takeover();
        final Checkpoint from = found.checkpoint();
        if (world().plant() == Plant.TAKE_OVER_LATE) {
            from.skipTo(from.firstSequence + 1, from.frameId);
        }
        final int slotBytes = last.stream().slotBytes();
        final byte[] payload =
                last.segment().read(found.offset(), (int) (from.acknowledged - from.firstSequence) * slotBytes);
        final List<SimMember> others = new ArrayList<>(last.followersToAwait());
        others.remove(still);
        others.remove(this);
        final SimReception.Past past = new SimReception.Past(last.reception(), from, payload, claim);
        adopted = new Adoption(last, past, others, nowNs());
        goOn();
    }

    // With keys of its own where streams are protected. A source that does not answer in time is lost.
    private boolean goOn() {
        final Adoption from = adopted;
        if (from == null || !isAgreed(from)) {
            return false;
        }
        adopted = null;
        leadsSinceNs = trueNs();
        followersToAwait.clear();
        followersToAwait.addAll(from.followersToAwait);
        final SimSession source = from.last.source();
        final SimReception made = new SimReception(this, source, from.last.stream(), from.past);
        source.add(made);
        successor = made;
        return true;
    }

    private boolean isAgreed(final Adoption from) {
        final SecureReceiver secure = secure();
        return secure == null
                || secure.agree(from.last.source().nonce(), SimSource.CONTROL_ADDRESS, nowNs())
                || nowNs() - from.sinceNs >= SimSource.ALIVE_TIMEOUT_NS;
    }

    private void stopLeading() {
        leads = false;
        for (final SimReception reception : receptions()) {
            reception.drop();
        }
        forgetKeys();
        receptions().clear();
        adopted = null;
        successor = null;
        followersToAwait.clear();
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
        final boolean hasFollowers =
                group.members().stream().anyMatch(other -> other != this && other.leader == this && !other.isStopped());
        if (leads && !hasFollowers) {
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
        return leads ? Math.min(super.nextDeadlineNs(), nowNs() + BEAT_NS) : Math.max(nowNs() + 1, lookNs);
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
                + (successor == null ? "" : ", waits for " + followersToAwait.size() + " survivors");
    }
}
