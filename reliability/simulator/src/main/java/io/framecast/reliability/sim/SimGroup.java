package io.framecast.reliability.sim;

import io.framecast.reliability.group.Promise;
import io.framecast.reliability.receive.Checkpoint;
import io.framecast.reliability.sim.plan.Plant;
import io.framecast.reliability.sim.record.SimCount;
import io.framecast.reliability.sim.secure.SecureReceiver;
import io.framecast.reliability.sim.shared.SimSegment;
import io.framecast.reliability.sim.shared.Step;
import io.framecast.reliability.succession.SuccessionMachine;
import io.framecast.reliability.succession.SuccessionMachine.Term;
import io.framecast.reliability.wire.StreamInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// The meeting point of a host's processes: the process that listens there leads. It arms faults that fall
/// between two stores of a leader.
final class SimGroup {
    private static final int WAKE_MAX_NS = 50_000;
    // A checkpoint takes 15 stores, an entry 12, a segment's header 25.
    private static final int STEPS_MAX = 400;
    private static final int STEPS_SOON = 120;
    private static final int ENTRY_STEPS_MAX = 30;
    private static final int SENT_STEPS_MAX = 8;
    private static final long DOWN_MAX_NS = 2 * SimSource.ALIVE_TIMEOUT_NS;

    private final SimFaults faults;
    private final RandomGenerator random;
    // Of each ring, beyond its need: a successor's ring is as long as its leader's.
    private final int spareSlots;
    // Processes that run, in order of their beginning.
    private final List<SimMember> members = new ArrayList<>();
    private @Nullable SimMember leader;
    // The last leader died.
    private boolean awaitsSuccessor;
    // Further leaders that are to die as soon as they lead.
    private int deaths;
    private long numbers;

    SimGroup(final SimFaults faults, final RandomGenerator random) {
        this.faults = faults;
        this.random = random;
        spareSlots = random.nextInt(2) * random.nextInt(64);
    }

    int spareSlots() {
        return spareSlots;
    }

    @Nullable
    SimMember leader() {
        return leader;
    }

    List<SimMember> members() {
        return members;
    }

    /// True when the last leader died, and no other one has led since.
    boolean awaitsSuccessor() {
        return awaitsSuccessor;
    }

    /// A process is of the group from now on.
    ///
    /// @return its number, 1 …
    long enter(final SimMember member) {
        members.add(member);
        return ++numbers;
    }

    /// Whether the process of a number runs.
    boolean lives(final long number) {
        return members.stream().anyMatch(member -> member.number() == number && !member.isStopped());
    }

    /// It listens from now on, in another's place perhaps.
    void lead(final SimMember member) {
        leader = member;
        awaitsSuccessor = false;
        if (deaths > 0) {
            deaths--;
            arm(member, STEPS_SOON);
        }
    }

    /// The connections of this process end, because it is gone or does not lead any more.
    void onEnd(final SimMember member) {
        if (leader == member) {
            leader = null;
            awaitsSuccessor = member.isStopped();
        }
        if (member.isStopped()) {
            members.remove(member);
        }
        wakeAll();
    }

    /// There may be news for all.
    void wakeAll() {
        for (final SimMember member : members) {
            member.wakeAfter(random.nextInt(WAKE_MAX_NS));
        }
    }

    /// The leader, and perhaps its successors, die between two stores from now on.
    void armCrashes() {
        final SimMember one = leader;
        deaths = random.nextInt(3);
        if (one == null || one.isStopped()) {
            deaths++;
        } else {
            arm(one, STEPS_MAX);
        }
    }

    /// No death is planned any more.
    void clearCrashes() {
        deaths = 0;
        members.forEach(SimMember::clearCrash);
    }

    private void arm(final SimMember member, final int stepsMax) {
        final long nowNs = member.events().nowNs();
        final SimHost host = member.host();
        final Step only = switch (random.nextInt(3)) {
            case 0 -> Step.ENTRY;
            case 1 -> Step.SENT;
            default -> null;
        };
        final int latest = only == null ? stepsMax : only == Step.ENTRY ? ENTRY_STEPS_MAX : SENT_STEPS_MAX;
        member.armCrash(1 + random.nextInt(latest), only);
        final long latestNs = nowNs + 1 + random.nextLong(40_000_000);
        final boolean comesBack = random.nextInt(4) != 0;
        faults.expect(latestNs, () -> {
            if (member.isCrashArmed() && !member.isStopped()) {
                host.crash();
            }
            if (comesBack) {
                faults.expect(member.events().nowNs() + 1 + random.nextLong(DOWN_MAX_NS), host::start);
            }
        });
    }

    /// One time in which a process leads its host group: its signs of life, the members that come, and the membership
    /// that it goes on with.
    static final class Leading {
        private final SimMember process;
        private final SimGroup group;
        private final Term term = new Term();
        // By the true clock.
        private long sinceNs;
        private long workedNs;
        private long cycles;
        private final List<Connection> connections = new ArrayList<>();
        // A membership to go on with, until there are keys of its own.
        private @Nullable Adoption adopted;
        // The membership that goes on, until RESUME is sent.
        private @Nullable SimReception successor;
        // The session whose segment members get.
        private @Nullable SimReception newest;
        // Those in whose segments it shows that it works: earlier ones until all members have the newest.
        private final List<SimReception> shown = new ArrayList<>();
        private SuccessionMachine.Resume resume = new SuccessionMachine.Resume(SimSource.ALIVE_TIMEOUT_NS);

        /// A membership that a process goes on with.
        private record Adoption(SimSharing.View last, StreamInfo stream, SimReception.Past past) {}

        /// @param last the segment that it would go on with
        private record Connection(
                SimMember member, @Nullable SimSegment last) {}

        Leading(final SimMember process, final SimGroup group) {
            this.process = process;
            this.group = group;
            sinceNs = trueNs();
            workedNs = sinceNs;
        }

        private long trueNs() {
            return process.events().nowNs();
        }

        /// When it began, or went on with a membership.
        long sinceNs() {
            return sinceNs;
        }

        /// The last time, by the true clock, at which it worked.
        long workedNs() {
            return workedNs;
        }

        /// Whether another process leads by now.
        boolean isFenced() {
            return term.isFenced();
        }

        /// A member connects.
        ///
        /// @param last the segment that it would go on with
        void connect(final SimMember member, final @Nullable SimSegment last) {
            connections.removeIf(one -> one.member == member);
            connections.add(new Connection(member, last));
            if (last != null) {
                term.onSurvivor(member.number());
            }
        }

        /// A new membership shares its segment. No member comes to an earlier segment any more.
        void offer(final SimReception made) {
            if (newest != null && newest != made) {
                sharing(newest).table().onHandoverComplete();
            }
            if (newest != made) {
                shown.add(made);
            }
            newest = made;
        }

        // A member shares each of its sessions.
        private static SimSharing sharing(final SimReception reception) {
            return Objects.requireNonNull(reception.sharing());
        }

        /// Whether it goes on with a membership, or has one already.
        boolean hasPast() {
            return isGoingOn()
                    || process.receptions().stream()
                            .anyMatch(one -> sharing(one).counts());
        }

        /// Whether a membership waits for keys, or for members of the leader before.
        boolean isGoingOn() {
            return adopted != null || successor != null;
        }

        /// True when a connected process lacks the session's end.
        boolean isWanted(final SimSession session) {
            return connections.stream()
                    .anyMatch(one ->
                            !one.member.isStopped() && !one.member.follower().hasEnded(session));
        }

        /// Signs of life, members that come, and the membership that waits for them.
        ///
        /// @return what it did; −1 where it stood still so long that another one leads now
        int work() {
            workedNs = trueNs();
            final SimMember present = group.leader();
            if (term.look(process.number(), present == null ? 0 : present.number()) != Term.Place.KEPT) {
                return -1;
            }
            int work = goOn() ? 1 : 0;
            // Also when its session is over: members wait for the next one.
            if (term.beats(++cycles)) {
                shown.forEach(one -> sharing(one).table().beat());
            }
            for (final SimReception reception : process.receptions()) {
                work += sharing(reception).dismissGone();
            }
            term.awaits(group::lives, process.nowNs());
            final SimReception waiting = successor;
            if (waiting != null) {
                work += sharing(waiting).dismissGone();
            }
            final SimReception offered = newest;
            if (offered != null && (offered == waiting || process.receptions().contains(offered))) {
                work += share(offered);
                completeHandover(offered);
            }
            if (waiting != null) {
                sendResume(waiting);
            }
            return work;
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
                            before != null
                                    && before == one.last
                                    && sharing.table().isAwaiting());
                    work++;
                }
            }
            return work;
        }

        private boolean isConnected(final SimMember member) {
            return !member.isStopped() && member.follows(process);
        }

        private void completeHandover(final SimReception reception) {
            final SimSharing sharing = sharing(reception);
            final boolean arePlaced =
                    connections.stream().allMatch(one -> !isConnected(one.member) || sharing.has(one.member));
            if (arePlaced) {
                shown.removeIf(one -> one != reception);
            }
            if (!sharing.table().isAwaiting()) {
                return;
            }
            if (term.isHandoverComplete(sharing.table().members(), arePlaced)) {
                sharing.table().onHandoverComplete();
                group.wakeAll();
            }
        }

        private void sendResume(final SimReception waiting) {
            final boolean complete = !sharing(waiting).table().isAwaiting();
            final boolean sends = complete || process.world().plant() == Plant.RESUME_ALONE;
            if (!resume.maySend(sends, trueNs() - sinceNs)) {
                return;
            }
            group.members().stream()
                    .filter(late -> term.isAwaited(late.number()))
                    .forEach(late -> late.leaveOut(sinceNs));
            successor = null;
            process.add(waiting);
            process.world().count(SimCount.TAKEOVERS);
            waiting.resume();
            group.wakeAll();
        }

        /// Goes on with the membership of a leader that is gone, or stands still.
        ///
        /// @param last its segment
        void takeOver(final SimSharing.View last) {
            // The claim comes first: from now on the leader reports nothing new to its source.
            final int claim = claim(last);
            final Promise found = last.table().promise(last.stream().channel());
            if (found == null) {
                process.world().violation("member " + process.host().address() + ": finds no promise that makes sense");
                return;
            }
            final Checkpoint from = found.checkpoint();
            if (process.world().plant() == Plant.TAKE_OVER_LATE) {
                from.skipTo(from.firstSequence + 1, from.frameId);
            }
            final int slotBytes = found.stream().slotBytes();
            final byte[] payload =
                    last.segment().read(found.offset(), (int) (from.acknowledged - from.firstSequence) * slotBytes);
            final List<Long> survivors = last.followersToAwait().stream()
                    .filter(member -> member != last.leader() && member != process)
                    .map(SimMember::number)
                    .toList();
            term.adopt(survivors, process.nowNs());
            final SimReception.Past past = new SimReception.Past(last.reception(), last.table(), claim, found, payload);
            adopted = new Adoption(last, found.stream(), past);
            resume = new SuccessionMachine.Resume(found.stream().aliveTimeoutNs());
            goOn();
        }

        private int claim(final SimSharing.View last) {
            if (process.world().plant() == Plant.LEAVE_UNFENCED && last.table().isNewest(0)) {
                last.table().leave();
                return 0;
            }
            return last.table().claim();
        }

        // With keys of its own where streams are protected.
        private boolean goOn() {
            final Adoption from = adopted;
            if (from == null || !resume.mayOpen(isAgreed(from), process.nowNs())) {
                return false;
            }
            adopted = null;
            sinceNs = trueNs();
            final SimSession source = from.last.source();
            final SimReception made = new SimReception(process, source, from.stream, from.past);
            source.add(made);
            successor = made;
            offer(made);
            return true;
        }

        private boolean isAgreed(final Adoption from) {
            final SecureReceiver secure = process.secure();
            return secure == null
                    || secure.agree(from.last.source().nonce(), SimSource.CONTROL_ADDRESS, process.nowNs());
        }

        /// It leads no more.
        void end() {
            final SecureReceiver secure = process.secure();
            if (secure != null) {
                if (successor != null) {
                    secure.forget(successor.source().nonce());
                }
                if (adopted != null) {
                    secure.forget(adopted.last.source().nonce());
                }
            }
            adopted = null;
            successor = null;
            newest = null;
            shown.clear();
            connections.clear();
        }

        String describe() {
            return (adopted == null ? "" : ", waits for keys") + (successor == null ? "" : ", waits for survivors");
        }
    }
}
