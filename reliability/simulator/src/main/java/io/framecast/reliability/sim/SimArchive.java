package io.framecast.reliability.sim;

import io.framecast.reliability.sim.net.SimEvents;
import io.framecast.reliability.sim.net.SimLane;
import io.framecast.reliability.sim.record.SimCount;
import io.framecast.reliability.sim.record.SimJournal;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.NackLayout;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/// Datagrams that were really sent, kept to come again much later: after the source began another session, and to
/// a source that has forgotten their sender. A network may hold a datagram for any time.
final class SimArchive {
    private static final int KEPT_MAX = 192;
    private static final int REPLAYS = 160;
    private static final int RECEIVER_REPLAYS = 16;
    private static final long REPLAY_NS = 700_000_000;
    private static final int KEEP_ONE_OF = 4;

    /// @param from the sender's address
    private record Kept(SimLane lane, int from, MemorySegment datagram) {}

    private final SimEvents events;
    private final SimJournal journal;
    private final SimNetwork network;
    private final RandomGenerator random;
    private final boolean used;
    private final List<Kept> kept = new ArrayList<>();

    /// @param used whether processes start again in this run
    SimArchive(
            final SimEvents events,
            final SimJournal journal,
            final SimNetwork network,
            final RandomGenerator random,
            final boolean used) {
        this.events = events;
        this.journal = journal;
        this.network = network;
        this.random = random;
        this.used = used;
    }

    /// Offers a sent datagram; the archive keeps some, so that early and late ones have their place.
    ///
    /// @param from the sender's address
    void offer(final SimLane lane, final int from, final MemorySegment datagram) {
        if (!used || random.nextInt(KEEP_ONE_OF) != 0) {
            return;
        }
        final Kept one = new Kept(lane, from, datagram);
        if (kept.size() < KEPT_MAX) {
            kept.add(one);
        } else {
            kept.set(random.nextInt(KEPT_MAX), one);
        }
    }

    /// A source starts again: for a while from now on, the kept datagrams come again, each to its original
    /// destination.
    void replay() {
        replay(List.copyOf(kept), REPLAYS);
    }

    /// A receiver starts again: its predecessor's datagrams come again.
    void replay(final int from) {
        replay(kept.stream().filter(one -> one.from == from).toList(), RECEIVER_REPLAYS);
    }

    private void replay(final List<Kept> old, final int times) {
        final long now = events.nowNs();
        for (int i = 0; i < times && !old.isEmpty(); i++) {
            final Kept one = old.get(random.nextInt(old.size()));
            events.at(now + random.nextLong(REPLAY_NS), () -> send(one));
        }
    }

    // A sealed one must not be taken again.
    private static boolean isPlainNack(final MemorySegment datagram) {
        return ControlLayout.type(datagram, 0) == ControlLayout.TYPE_NACK
                && ControlLayout.TAG_BYTES.get(datagram, 0) == 0;
    }

    // Not by links: they would count it as one of the session's losses.
    private void send(final Kept one) {
        if (one.from != SimNetwork.SOURCE) {
            // The source repeats repairs of datagrams that it still holds.
            if (isPlainNack(one.datagram)) {
                for (int i = 0; i < NackLayout.ranges(one.datagram, 0); i++) {
                    journal.count(SimCount.LOSSES, NackLayout.count(one.datagram, 0, i));
                }
            }
            network.source().arrive(SimLane.CONTROL, one.datagram);
            return;
        }
        for (final SimHost host : network.hosts()) {
            host.arrive(one.lane, one.datagram);
        }
    }
}
