package io.framecast.reliability.sim;

import io.framecast.reliability.sim.net.SimLane;
import io.framecast.reliability.sim.record.SimCount;
import io.framecast.reliability.sim.secure.SecureReceiver;
import io.framecast.reliability.sim.secure.SecureRun;
import io.framecast.reliability.sim.shared.SharedSegment;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.HeartbeatLayout;
import io.framecast.reliability.wire.Verdict;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// A receiver's process: finds sources by their heartbeats and joins each session. When it lost a session that goes
/// on, it joins again under a new identity. Every session gets every datagram of every lane, as sockets of one
/// group do; the machines separate them.
class SimReceiver extends SimNode {
    private static final int SESSIONS_MAX = 4;
    private static final long REFUSED_NS = 50_000_000;

    private final SimUser user;
    private final HeaderChecksum checksum = new HeaderChecksum();
    private final List<SimReception> receptions = new ArrayList<>();
    private final Set<Long> ended = new HashSet<>();
    private final Set<Long> joined = new HashSet<>();
    private final boolean links;
    private final @Nullable SecureReceiver secure;
    private long notBeforeNs;

    SimReceiver(final SimHost host, final RandomGenerator random, final SimUser user) {
        super(host, random, host.links().down().spec().queueDatagrams());
        this.user = user;
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

    /// Whether its payloads land where it cannot read them.
    final boolean isFedOnly(final long id) {
        // Drawn by its number: other runs draw nothing for it.
        return links && (id >>> 8 & 0xff) < 0x100 * world().options().audience().direct();
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
            any |= reception.enqueue(lane, datagram);
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
        forget();
        return work;
    }

    private void onControl(final MemorySegment datagram) {
        for (final SimReception reception : receptions) {
            reception.onControl(datagram);
        }
        if (isAnnouncement(datagram)) {
            final SimSession session = world().session(ControlLayout.SESSION.get(datagram, 0));
            if (session != null && mayJoin(session)) {
                join(session, datagram);
            }
        }
    }

    private boolean isAnnouncement(final MemorySegment datagram) {
        return ControlLayout.check(datagram, 0, (int) datagram.byteSize(), checksum) == Verdict.GOOD
                && ControlLayout.type(datagram, 0) == ControlLayout.TYPE_HEARTBEAT
                && HeartbeatLayout.isValid(datagram, 0);
    }

    boolean mayJoin(final SimSession session) {
        if (receptions.size() >= SESSIONS_MAX || ended.contains(session.nonce()) || nowNs() < notBeforeNs) {
            return false;
        }
        for (final SimReception reception : receptions) {
            if (reception.source() == session) {
                return false;
            }
        }
        return true;
    }

    private void join(final SimSession session, final MemorySegment heartbeat) {
        world().journal().count(SimCount.REJOINS, joined.add(session.nonce()) ? 0 : 1);
        final SimReception made = new SimReception(this, session, HeartbeatLayout.info(heartbeat, 0), null);
        session.add(made);
        add(made);
        made.begin();
    }

    final void add(final SimReception made) {
        receptions.add(made);
    }

    final List<SimReception> receptions() {
        return receptions;
    }

    /// A point between two steps that other processes see: the process may die there.
    void pass(final SharedSegment.Step step) {}

    // Forgets sessions that are over and checked. A receiver with all of a session answers its source for as long
    // as there is one.
    private void forget() {
        for (int i = receptions.size() - 1; i >= 0; i--) {
            final SimReception reception = receptions.get(i);
            if (reception.isFinished() && (reception.isLost() || reception.source() != world().newest())) {
                if (reception.isEnded()) {
                    ended.add(reception.source().nonce());
                } else if (reception.isRefused()) {
                    notBeforeNs = nowNs() + REFUSED_NS;
                }
                reception.conclude();
                receptions.remove(i);
                if (secure != null) {
                    secure.forget(reception.source().nonce());
                }
            }
        }
    }

    @Override
    long nextDeadlineNs() {
        long deadline = secure == null ? Long.MAX_VALUE : secure.nextDeadlineNs();
        for (final SimReception reception : receptions) {
            deadline = Math.min(deadline, reception.nextDeadlineNs());
        }
        return deadline;
    }

    /// Whether the receiver has all of a session, and has finished all others.
    boolean isSettled(final SimSession last) {
        boolean settled = last.isClosed();
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
