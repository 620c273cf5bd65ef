package io.framecast.reliability.sim.net;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.framecast.reliability.sim.plan.LinkSpec;
import io.framecast.reliability.sim.record.SimCount;
import io.framecast.reliability.sim.record.SimJournal;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;

/// One direction between the source and a receiver: decides the fate of each datagram.
public final class SimLink {
    /// The destination of datagrams.
    public interface End {
        void arrive(SimLane lane, MemorySegment datagram);
    }

    private record Interval(long fromNs, long toNs) {
        boolean contains(final long timeNs) {
            return timeNs >= fromNs && timeNs < toNs;
        }
    }

    /// A datagram under way, perhaps twice.
    private static final class Flight {
        private final SimLane lane;
        private final End to;
        private final long number;
        private boolean lost;

        Flight(final SimLane lane, final End to, final long number) {
            this.lane = lane;
            this.to = to;
            this.number = number;
        }
    }

    private static final int BURST_MAX = 12;
    private static final int HEADER_BYTES = 40;
    /// Held back for longer than the first NACK is: as good as lost.
    public static final long LATE_NS = 500_000;

    private final SimEvents events;
    private final SimJournal journal;
    private final RandomGenerator random;
    private final LinkSpec spec;
    private final boolean down;
    private final long[] lastArrivalNs = new long[SimLane.values().length];
    private final long[] highest = new long[SimLane.values().length];
    private final List<Interval> partitions = new ArrayList<>();
    private final List<Interval> clogs = new ArrayList<>();
    private long calmNs = Long.MAX_VALUE;
    private long clogUntilNs;
    private long sent;
    private int burstLeft;

    /// @param down whether it leads to a receiver, whose losses count
    public SimLink(
            final SimEvents events,
            final SimJournal journal,
            final RandomGenerator random,
            final LinkSpec spec,
            final boolean down) {
        this.events = events;
        this.journal = journal;
        this.down = down;
        this.random = random;
        this.spec = spec;
    }

    public LinkSpec spec() {
        return spec;
    }

    /// Nothing passes in `[fromNs, toNs)`.
    public void partition(final long fromNs, final long toNs) {
        partitions.add(new Interval(fromNs, toNs));
    }

    /// Datagrams sent in `[fromNs, toNs)` arrive at its end, all at once.
    public void clog(final long fromNs, final long toNs) {
        clogs.add(new Interval(fromNs, toNs));
    }

    /// From then on the link is sound.
    public void calmFrom(final long timeNs) {
        calmNs = timeNs;
    }

    public void send(final SimLane lane, final MemorySegment datagram, final End to) {
        final long now = events.nowNs();
        final Flight flight = new Flight(lane, to, sent++);
        if (now >= calmNs) {
            deliver(flight, datagram, false);
            return;
        }
        if (isLost(now)) {
            journal.count(SimCount.DROPS);
            lose(lane);
            return;
        }
        if (happens(spec.clog())) {
            clogUntilNs = now + 1 + random.nextLong(20 * (spec.delayNs() + spec.jitterNs()) + 1);
        }
        for (final Interval clog : clogs) {
            clogUntilNs = clog.contains(now) ? Math.max(clogUntilNs, clog.toNs) : clogUntilNs;
        }
        final boolean corrupt = happens(spec.corrupt());
        final MemorySegment arriving = corrupt ? corrupted(datagram) : datagram;
        final boolean late = happens(spec.reorder());
        if (corrupt || late || clogUntilNs - now > LATE_NS) {
            lose(lane);
            flight.lost = true;
        }
        deliver(flight, arriving, late);
        if (happens(spec.duplicate())) {
            deliver(flight, arriving, random.nextBoolean());
        }
    }

    private void lose(final SimLane lane) {
        // A multicast is lost once for each receiver behind a link up; repairs go to one.
        final boolean counts = lane == SimLane.REPAIR || (down && lane != SimLane.CONTROL);
        journal.count(SimCount.LOSSES, counts ? 1 : 0);
    }

    private boolean isLost(final long now) {
        for (final Interval partition : partitions) {
            if (partition.contains(now)) {
                return true;
            }
        }
        if (burstLeft > 0) {
            burstLeft--;
            return true;
        }
        if (happens(spec.burst())) {
            burstLeft = 1 + random.nextInt(BURST_MAX - 1);
            return true;
        }
        return happens(spec.loss());
    }

    private boolean happens(final double probability) {
        return probability > 0 && random.nextDouble() < probability;
    }

    private void deliver(final Flight flight, final MemorySegment datagram, final boolean late) {
        final long now = events.nowNs();
        final int lane = flight.lane.ordinal();
        long arrival = now + spec.delayNs() + (spec.jitterNs() == 0 ? 0 : random.nextLong(spec.jitterNs()));
        arrival = Math.max(arrival, clogUntilNs);
        if (late) {
            arrival += random.nextLong(8 * (spec.delayNs() + spec.jitterNs()) + 1);
        } else {
            arrival = Math.max(arrival, lastArrivalNs[lane]);
            lastArrivalNs[lane] = arrival;
        }
        events.at(arrival, () -> arrive(flight, datagram));
    }

    private void arrive(final Flight flight, final MemorySegment datagram) {
        final int lane = flight.lane.ordinal();
        if (flight.number < highest[lane] && !flight.lost) {
            lose(flight.lane);
        }
        highest[lane] = Math.max(highest[lane], flight.number);
        // One loss is counted once, and the other copy may arrive at any time.
        flight.lost = true;
        flight.to.arrive(flight.lane, datagram);
    }

    // Flips only bits that a checksum covers: payload has none, so a flipped payload bit would rightly go
    // unnoticed.
    private MemorySegment corrupted(final MemorySegment datagram) {
        final byte[] bytes = datagram.toArray(JAVA_BYTE);
        if (bytes.length == 0) {
            // The link before left no bytes of it.
            return datagram;
        }
        if (random.nextInt(4) == 0) {
            return MemorySegment.ofArray(Arrays.copyOf(bytes, random.nextInt(bytes.length)));
        }
        final int bit = random.nextInt(8 * Math.min(HEADER_BYTES, bytes.length));
        bytes[bit >>> 3] ^= (byte) (1 << (bit & 7));
        return MemorySegment.ofArray(bytes);
    }
}
