package io.framecast.reliability.sim.secure;

import io.framecast.reliability.sim.net.SimEvents;
import io.framecast.reliability.sim.net.SimLane;
import io.framecast.reliability.sim.record.SimCount;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.DataLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// An attacker in the network. The attacker sees each datagram, keeps some, and sends datagrams to any process:
/// again, later, altered, in parts, made up, or sealed with the keys of an epoch that a former member still has.
/// The attacker alters no payload of the data where nothing authenticates it.
///
/// One thread. It owns the keys that it stole.
public final class Adversary implements AutoCloseable {
    /// The address of datagrams to all.
    public static final int ALL = -2;
    /// The source's address; receivers count from 0.
    public static final int SOURCE = -1;

    private static final int KEPT_MAX = 256;
    private static final int KEEP_ONE_OF = 3;
    private static final int ATTACK_ONE_OF = 6;
    private static final int ATTACKS_MAX = 800;
    private static final int THIEVES_MAX = 8;
    private static final int SESSIONS_MAX = 16;
    private static final int FLOOD = 12;
    private static final long STOLEN_COUNTER = 1L << 20;
    private static final long SOON_NS = 2_000_000;
    private static final long LATE_NS = 600_000_000;

    /// The network under attack.
    public interface Wire {
        /// Number of receivers' hosts.
        int receivers();

        /// The longest time that a datagram takes which is not counted as lost.
        long transitMaxNs();

        /// Hands a datagram to a host, at once.
        void deliver(int to, SimLane lane, MemorySegment datagram);
    }

    /// @param from the sender's address
    /// @param to the destination's, or [#ALL]
    record Seen(SimLane lane, int from, int to, byte[] bytes) {
        MemorySegment copy() {
            return MemorySegment.ofArray(bytes.clone());
        }

        boolean isControl() {
            return lane == SimLane.CONTROL;
        }
    }

    private record Theft(long session, SimSecurity.Insider keys) {}

    private final SecureRun run;
    private final SimEvents events;
    private final Wire wire;
    private final RandomGenerator random;
    private final Forger forger;
    private final long calmNs;
    private final List<Seen> kept = new ArrayList<>();
    private final List<Theft> thefts = new ArrayList<>();
    private final List<Long> sessions = new ArrayList<>();
    private int attacks;

    Adversary(final SecureRun run, final Wire wire, final RandomGenerator random, final long calmNs) {
        this.run = run;
        this.wire = wire;
        this.random = random;
        this.calmNs = calmNs;
        events = run.events();
        forger = new Forger(random, run.security().sealsPayloads());
    }

    /// A host sends a datagram.
    ///
    /// @param to the destination's address, or [#ALL]
    public void see(final int from, final int to, final SimLane lane, final MemorySegment datagram) {
        if (events.nowNs() >= calmNs) {
            return;
        }
        if (lane == SimLane.CONTROL && datagram.byteSize() >= ControlLayout.LENGTH) {
            learn(ControlLayout.SESSION.get(datagram, 0));
        }
        if (kept.isEmpty() || random.nextInt(KEEP_ONE_OF) == 0) {
            keep(new Seen(lane, from, to, datagram.toArray(ValueLayout.JAVA_BYTE)));
        }
        if (attacks < ATTACKS_MAX && random.nextInt(ATTACK_ONE_OF) == 0) {
            attacks++;
            attack();
        }
    }

    private void learn(final long session) {
        if (!sessions.contains(session) && sessions.size() < SESSIONS_MAX) {
            sessions.add(session);
        }
    }

    private void keep(final Seen seen) {
        if (kept.size() < KEPT_MAX) {
            kept.add(seen);
        } else {
            kept.set(random.nextInt(KEPT_MAX), seen);
        }
    }

    /// A source changes its keys: a member that is none any more keeps these.
    void steal(final long session, final SimSecurity.Source from) {
        if (thefts.size() < THIEVES_MAX) {
            thefts.add(new Theft(session, from.insider(STOLEN_COUNTER)));
        }
    }

    private void attack() {
        final Seen one = any();
        run.journal().count(SimCount.ATTACKS);
        switch (random.nextInt(12)) {
            case 0, 1 -> send(one.to, one.lane, one.copy(), delayNs(one.lane));
            case 2 -> send(anywhere(), one.lane, one.copy(), delayNs(one.lane));
            case 3 -> send(anywhere(), anyLane(), one.copy(), delayNs(one.lane));
            case 4 -> send(one.from, one.lane, one.copy(), delayNs(one.lane));
            case 5 -> again(one, forger.flipped(one));
            case 6 -> again(one, forger.resized(one));
            case 7 -> again(one, forger.mixed(one, any(), anySession()));
            case 8 -> forgeData(one);
            case 9 -> forgeControl(one);
            case 10 -> flood();
            default -> abuse(one);
        }
    }

    // To where it went, or to another.
    private void again(final Seen one, final @Nullable MemorySegment forged) {
        if (forged != null) {
            send(random.nextInt(3) == 0 ? anywhere() : one.to, one.lane, forged, delayNs(one.lane));
        }
    }

    private void forgeData(final Seen one) {
        if (one.isControl()) {
            return;
        }
        final SimLane lane = random.nextBoolean() ? SimLane.DATA : SimLane.REPAIR;
        send(anywhere(), lane, forger.data(one, forger.sessionOf(one, sessions)), delayNs(lane));
    }

    private void forgeControl(final Seen one) {
        if (one.isControl()) {
            send(anywhere(), SimLane.CONTROL, forger.control(one, anySession()), delayNs(SimLane.CONTROL));
        }
    }

    // Handshakes that no receiver began.
    private void flood() {
        for (final Seen seen : kept) {
            if (seen.isControl() && Forger.isHandshake(seen)) {
                for (int i = 0; i < FLOOD; i++) {
                    send(seen.to, SimLane.CONTROL, forger.handshake(seen), random.nextLong(SOON_NS));
                }
                return;
            }
        }
    }

    // With the keys of an epoch that is over where it goes.
    private void abuse(final Seen one) {
        for (final Theft theft : thefts) {
            for (int to = 0; to < wire.receivers(); to++) {
                final SecureReceiver there = run.receiverAt(to);
                if (there == null) {
                    continue;
                }
                final long end = there.endOf(theft.session, theft.keys.epoch());
                if (one.isControl() && there.isOver(theft.session, theft.keys.epoch())) {
                    run.journal().count(SimCount.ABUSES);
                    abuseControl(one, theft, to);
                } else if (!one.isControl() && end != SecureReceiver.UNKNOWN) {
                    run.journal().count(SimCount.ABUSES);
                    abuseData(one, theft, to, end);
                }
            }
        }
    }

    private void abuseData(final Seen one, final Theft theft, final int to, final long first) {
        final SimLane lane = random.nextBoolean() ? SimLane.DATA : SimLane.REPAIR;
        final MemorySegment forged = forger.data(one, theft.session, first);
        if (Forger.isData(forged)) {
            final int payloadBytes = (int) forged.byteSize() - DataLayout.SEALED_LENGTH;
            theft.keys.seal(forged, 0, forged, DataLayout.SEALED_LENGTH, payloadBytes);
            send(to, lane, forged, 0);
        }
    }

    private void abuseControl(final Seen one, final Theft theft, final int to) {
        final MemorySegment memory = run.scratch();
        final int plain = forger.order(memory, one, theft.session);
        final long member = random.nextLong();
        final int bytes = random.nextBoolean()
                ? theft.keys.sealToGroup(memory, plain)
                : theft.keys.sealToMember(memory, plain, member);
        if (bytes > 0) {
            send(to, SimLane.CONTROL, SecureEnd.copy(memory, 0, bytes), 0);
        }
    }

    private Seen any() {
        return kept.get(random.nextInt(kept.size()));
    }

    private long anySession() {
        return sessions.isEmpty() || random.nextInt(4) == 0
                ? random.nextLong()
                : sessions.get(random.nextInt(sessions.size()));
    }

    private int anywhere() {
        return random.nextInt(wire.receivers() + 1) - 1;
    }

    private SimLane anyLane() {
        return SimLane.values()[random.nextInt(SimLane.values().length)];
    }

    // Data that overtook other data would look like a loss: it comes once the original is there, or is lost.
    private long delayNs(final SimLane lane) {
        final long ns = random.nextLong(random.nextInt(4) == 0 ? LATE_NS : SOON_NS);
        return lane == SimLane.CONTROL ? ns : ns + wire.transitMaxNs();
    }

    private void send(final int to, final SimLane lane, final MemorySegment datagram, final long delayNs) {
        events.at(events.nowNs() + delayNs, () -> {
            if (to == ALL) {
                for (int host = 0; host < wire.receivers(); host++) {
                    wire.deliver(host, lane, datagram);
                }
            } else {
                wire.deliver(to, lane, datagram);
            }
        });
    }

    @Override
    public void close() {
        thefts.forEach(theft -> theft.keys.close());
    }
}
