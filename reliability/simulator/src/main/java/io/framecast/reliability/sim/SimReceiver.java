package io.framecast.reliability.sim;

import io.framecast.reliability.membership.MembershipMachine;
import io.framecast.reliability.receive.CoRootOutput.Filler;
import io.framecast.reliability.sim.net.SimLane;
import io.framecast.reliability.sim.plan.Plant;
import io.framecast.reliability.sim.record.SimCount;
import io.framecast.reliability.sim.secure.SecureReceiver;
import io.framecast.reliability.sim.secure.SecureRun;
import io.framecast.reliability.sim.shared.Step;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.HeartbeatLayout;
import io.framecast.reliability.wire.Verdict;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// A receiver's process: finds sources by their heartbeats, and joins, leaves and joins again as its
/// [MembershipMachine] decides, each time under a new identity. Every session gets every datagram of every lane,
/// as sockets of one group do; the machines separate them.
class SimReceiver extends SimNode {
    private static final long NEVER = Long.MAX_VALUE;
    // An agent sleeps no longer.
    private static final long SLEEP_MAX_NS = 250_000_000;
    private static final long NS_PER_MS = 1_000_000;

    private final SimUser user;
    private final HeaderChecksum checksum = new HeaderChecksum();
    private final List<SimReception> receptions = new ArrayList<>();
    private final Set<Long> ended = new HashSet<>();
    private final Set<Long> joined = new HashSet<>();
    // By session: the first frame that its user neither got nor heard of.
    private final Map<Long, Long> reached = new HashMap<>();
    private final boolean links;
    private final @Nullable SecureReceiver secure;
    private MembershipMachine membership;
    // When the last membership ended.
    private long lostNs;

    SimReceiver(final SimHost host, final RandomGenerator random, final SimUser user) {
        super(host, random, host.links().down().spec().queueDatagrams());
        this.user = user;
        membership = new MembershipMachine(user.terms());
        final double share = world().options().audience().oneSided();
        links = share > 0 && random.nextDouble() < share;
        final SecureRun protection = world().secure();
        secure = protection == null
                ? null
                : protection.receiver(
                        host.address(),
                        SimNetwork.name(host.address()),
                        this::nowNs,
                        (address, datagram, _) -> shake(address, datagram),
                        this::onControl);
    }

    // A heartbeat may name any address.
    private void shake(final byte[] address, final MemorySegment datagram) {
        final int number = SimNetwork.number(address);
        if (Arrays.equals(address, SimSource.CONTROL_ADDRESS)) {
            world().archive().offer(SimLane.CONTROL, host().address(), datagram);
            world().network().toSource(host().address(), datagram);
        } else if (world().network().isAddress(number)) {
            world().network().between(host().address(), number, SimLane.CONTROL, datagram);
        }
    }

    /// It is the process of its host that the network reaches.
    final void listen() {
        final SecureRun protection = world().secure();
        if (protection != null && secure != null) {
            protection.listen(host().address(), secure);
        }
    }

    /// Its end of protected streams; null where none is.
    final @Nullable SecureReceiver secure() {
        return secure;
    }

    /// The source alone fills its replica where payloads land where it cannot read them.
    final Filler filler(final long id) {
        // Drawn by its number: other runs draw nothing for it.
        return links && (id >>> 8 & 0xff) < 0x100 * world().options().audience().direct()
                ? Filler.SOURCE
                : Filler.RECEIVER;
    }

    /// Whether the receiver acts on its sources' memory.
    final boolean links() {
        return links;
    }

    final SimUser user() {
        return user;
    }

    final int queueDatagrams() {
        return host().links().down().spec().queueDatagrams();
    }

    /// Leaves every session.
    void leave() {
        receptions.forEach(SimReception::leave);
    }

    @Override
    boolean enqueue(final SimLane lane, final MemorySegment datagram) {
        if (lane == SimLane.CONTROL) {
            return super.enqueue(lane, datagram);
        }
        boolean any = false;
        for (final SimReception reception : receptions) {
            any |= !reception.hasLeft() && reception.enqueue(lane, datagram);
        }
        // A NACK may request it again before the process takes it.
        world().journal().count(SimCount.LOSSES, isPaused() && any ? 1 : 0);
        return any;
    }

    @Override
    boolean isWaiting() {
        boolean waiting = super.isWaiting();
        for (final SimReception reception : receptions) {
            waiting |= reception.isWaiting();
        }
        return waiting;
    }

    @Override
    int cycle() {
        if (membership.onCycle(nowNs()) > 0) {
            joining().forEach(one -> one.machine().onStandstill(nowNs()));
        }
        int work = secure == null ? 0 : secure.doWork(nowNs());
        while (!inbox().isEmpty()) {
            final MemorySegment arrived = inbox().remove();
            final MemorySegment plain = secure == null ? arrived : secure.open(arrived, nowNs());
            if (plain != null) {
                onControl(plain);
            }
            work++;
        }
        for (final SimReception reception : receptions) {
            work += reception.cycle();
        }
        List.copyOf(receptions).forEach(this::follow);
        free();
        checkEnd();
        return work;
    }

    private void onControl(final MemorySegment datagram) {
        for (final SimReception reception : receptions) {
            if (!reception.hasLeft()) {
                reception.onControl(datagram);
            }
        }
        if (isAnnouncement(datagram)) {
            final SimSession session = world().session(ControlLayout.SESSION.get(datagram, 0));
            final boolean ends = (ControlLayout.FLAGS.get(datagram, 0) & HeartbeatLayout.FLAG_END_OF_STREAM) != 0;
            if (session != null && isWanted(session, ends) && hasRoom() && mayJoin(session)) {
                join(session, datagram);
            }
        }
    }

    private boolean isWanted(final SimSession session, final boolean ends) {
        if (isPlanted(session)) {
            return false;
        }
        for (final SimReception reception : receptions) {
            if (reception.source() == session && !reception.hasLeft()) {
                return false;
            }
        }
        return membership.isWanted(session.nonce(), ends, nowNs());
    }

    private boolean isPlanted(final SimSession session) {
        return switch (world().plant()) {
            case NEVER_REJOIN -> joined.contains(session.nonce());
            case KEEP_DECLINED -> joining().stream().anyMatch(SimReception::isLost);
            default -> false;
        };
    }

    // One at most.
    private List<SimReception> joining() {
        return receptions.stream().filter(one -> one.part().isJoining()).toList();
    }

    private boolean hasRoom() {
        final List<SimReception> joining = joining();
        return switch (membership.room(nowNs())) {
            case FREE -> true;
            case TAKEN -> false;
            case SILENT -> {
                joining.forEach(this::decline);
                yield false;
            }
            case FULL -> {
                forget(NEVER);
                yield false;
            }
        };
    }

    private boolean isAnnouncement(final MemorySegment datagram) {
        return ControlLayout.check(datagram, 0, (int) datagram.byteSize(), checksum) == Verdict.GOOD
                && ControlLayout.type(datagram, 0) == ControlLayout.TYPE_HEARTBEAT
                && HeartbeatLayout.isValid(datagram, 0);
    }

    /// Whether it may join a session that its machine wants.
    boolean mayJoin(final SimSession session) {
        return true;
    }

    private void join(final SimSession session, final MemorySegment heartbeat) {
        world().journal().count(SimCount.REJOINS, joined.add(session.nonce()) ? 0 : 1);
        final SimReception made = new SimReception(this, session, HeartbeatLayout.info(heartbeat, 0), null);
        session.add(made);
        membership.onOpening();
        add(made);
        final long expected = reached.getOrDefault(session.nonce(), NEVER);
        made.resumeFrom(
                world().plant() == Plant.FORGET_MISSED ? NEVER : membership.nextFrameId(session.nonce()), expected);
        made.begin();
    }

    /// A session begins, or goes on in this process.
    void add(final SimReception made) {
        receptions.add(made);
        membership.onOpened(made.part(), nowNs());
    }

    /// Begins anew, as a process does that was a member of no session.
    final void forgetMemberships() {
        receptions.clear();
        reached.clear();
        membership = new MembershipMachine(user.terms());
    }

    final List<SimReception> receptions() {
        return receptions;
    }

    /// A point between two steps that other processes see: the process may die there.
    void pass(final Step step) {}

    // Carries out the changes of a membership.
    private void follow(final SimReception reception) {
        if (world().plant() == Plant.KEEP_DECLINED && reception.part().isJoining() && reception.isLost()) {
            return;
        }
        for (MembershipMachine.Step step = membership.step(reception.part(), nowNs());
                step != MembershipMachine.Step.NONE;
                step = membership.step(reception.part(), nowNs())) {
            switch (step) {
                case NONE, JOINED, REJOINED, SLOW -> {}
                case ENDED -> ended.add(reception.source().nonce());
                case LOST, GONE -> lose(reception);
                case DECLINED -> decline(reception);
                case UNFIT -> world().violation("receiver " + host().address() + " refuses a ring that it made itself");
            }
        }
    }

    private void lose(final SimReception reception) {
        lostNs = nowNs();
        reached.put(reception.source().nonce(), reception.missedFrom());
        close(reception);
    }

    private void decline(final SimReception reception) {
        if (!reception.isLost()) {
            reception.leave();
        }
        close(reception);
        remove(reception);
    }

    // The source may know this receiver no more.
    private void close(final SimReception reception) {
        reception.close();
        if (secure != null) {
            secure.forget(reception.source().nonce());
        }
    }

    private void remove(final SimReception reception) {
        reception.conclude();
        receptions.remove(reception);
        membership.onFreed(reception.part());
    }

    // Frees sessions that are over, once their user has given everything back. A receiver with all of a session answers
    // its source for as long as there is one.
    private void free() {
        forget(nowNs());
        for (int i = receptions.size() - 1; i >= 0; i--) {
            final SimReception reception = receptions.get(i);
            if (reception.hasLeft() && reception.isFinished()) {
                remove(reception);
            }
        }
    }

    private void forget(final long nowNs) {
        for (final SimReception reception : receptions) {
            if (!reception.hasLeft() && reception.part().isForgotten(nowNs)) {
                reception.leave();
                close(reception);
            }
        }
    }

    private void checkEnd() {
        if (membership.onTick(nowNs()) && nowNs() - lostNs < user.terms().rejoinMs() * NS_PER_MS) {
            world().violation("receiver " + host().address() + " waited " + (nowNs() - lostNs) / 1000
                    + " us for its source, which had " + user.terms().rejoinMs() + " ms to return");
        }
    }

    @Override
    long nextDeadlineNs() {
        final long sleepNs = Math.min(nowNs() + SLEEP_MAX_NS, membership.nextDeadlineNs());
        long deadline = secure == null ? sleepNs : Math.min(sleepNs, secure.nextDeadlineNs());
        for (final SimReception reception : receptions) {
            deadline = Math.min(deadline, reception.nextDeadlineNs());
        }
        return deadline;
    }

    /// Whether the source need not wait for this receiver before it ends its stream.
    boolean attends(final SimSession session) {
        if (membership.isOver()) {
            return true;
        }
        for (final SimReception reception : receptions) {
            if (reception.source() == session && reception.isMember()) {
                return true;
            }
        }
        return false;
    }

    /// Whether the receiver has all of a session that it could have, and has finished all others.
    boolean isSettled(final SimSession last) {
        if (isPaused()) {
            return false;
        }
        boolean settled = last.isClosed() || last.isEnding() || membership.isOver() || ended.contains(last.nonce());
        for (final SimReception reception : receptions) {
            if (!reception.isFinished()) {
                return false;
            }
            settled |= reception.source() == last && !reception.isLost();
        }
        return settled;
    }

    /// Checks every session from outside for events that should have happened by now.
    void watch() {
        receptions.forEach(reception -> reception.life().watch());
    }

    /// Concludes finished sessions.
    @Override
    void conclude() {
        for (final SimReception reception : receptions) {
            if (reception.isFinished()) {
                reception.conclude();
            }
        }
    }

    /// The reason why the receiver has not finished, for the report.
    String describe() {
        if (receptions.isEmpty()) {
            return "receiver " + host().address() + " is in no session";
        }
        return receptions.stream().map(SimReception::describe).collect(Collectors.joining("; "));
    }
}
