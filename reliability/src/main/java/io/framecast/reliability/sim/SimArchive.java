package io.framecast.reliability.sim;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/// Datagrams that were really sent, kept to come again much later: after the source began another session,
/// and to a source that has forgotten who sent them. A network may hold a datagram for as long as it likes.
final class SimArchive {
    private static final int KEPT_MAX = 192;
    private static final int REPLAYS = 160;
    private static final long REPLAY_NS = 700_000_000;
    private static final int KEEP_ONE_OF = 4;

    private record Kept(SimLane lane, boolean toSource, MemorySegment datagram) {}

    private final SimWorld world;
    private final RandomGenerator random;
    private final boolean used;
    private final List<Kept> kept = new ArrayList<>();

    SimArchive(final SimWorld world, final RandomGenerator random) {
        this.world = world;
        this.random = random;
        used = world.options().faults().crashes().isAny();
    }

    /// Shows a datagram that is sent; some are kept, so that early and late ones have their place.
    void offer(final SimLane lane, final boolean toSource, final MemorySegment datagram) {
        if (!used || random.nextInt(KEEP_ONE_OF) != 0) {
            return;
        }
        final Kept one = new Kept(lane, toSource, datagram);
        if (kept.size() < KEPT_MAX) {
            kept.add(one);
        } else {
            kept.set(random.nextInt(KEPT_MAX), one);
        }
    }

    /// From now on, for a while, what is kept now comes again, each datagram to its kind of receiver.
    void replay(final SimHost source) {
        final List<Kept> old = List.copyOf(kept);
        if (old.isEmpty()) {
            return;
        }
        final long now = world.events().nowNs();
        for (int i = 0; i < REPLAYS; i++) {
            final Kept one = old.get(random.nextInt(old.size()));
            world.events().at(now + random.nextLong(REPLAY_NS), () -> send(one, source));
        }
    }

    // Not by links: they would count it as one of the session's losses.
    private void send(final Kept one, final SimHost source) {
        if (one.toSource) {
            source.arrive(SimLane.CONTROL, one.datagram);
            return;
        }
        for (final SimHost host : world.network().hosts()) {
            host.arrive(one.lane, one.datagram);
        }
    }
}
