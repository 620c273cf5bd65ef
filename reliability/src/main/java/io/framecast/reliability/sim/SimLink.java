package io.framecast.reliability.sim;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.EnumMap;
import java.util.Map;
import java.util.random.RandomGenerator;

/// One direction between two nodes: decides what becomes of each datagram.
final class SimLink {
    private static final int BURST_MAX = 12;
    private static final int HEADER_BYTES = 40;

    /// What a link leads to.
    interface End {
        void arrive(SimLane lane, MemorySegment datagram);
    }

    private final SimEvents events;
    private final RandomGenerator random;
    private final LinkSpec spec;
    private final Map<SimLane, Long> lastArrivalNs = new EnumMap<>(SimLane.class);
    private long partitionFromNs = Long.MAX_VALUE;
    private long partitionToNs = Long.MAX_VALUE;
    private long calmNs = Long.MAX_VALUE;
    private long clogUntilNs;
    private int burstLeft;
    private long drops;

    SimLink(final SimEvents events, final RandomGenerator random, final LinkSpec spec) {
        this.events = events;
        this.random = random;
        this.spec = spec;
    }

    LinkSpec spec() {
        return spec;
    }

    /// Nothing passes in `[fromNs, toNs)`.
    void partition(final long fromNs, final long toNs) {
        partitionFromNs = fromNs;
        partitionToNs = toNs;
    }

    /// From then on nothing goes wrong.
    void calmFrom(final long timeNs) {
        calmNs = timeNs;
    }

    long drops() {
        return drops;
    }

    void send(final SimLane lane, final MemorySegment datagram, final End to) {
        final long now = events.nowNs();
        if (now >= calmNs) {
            deliver(lane, datagram, to, false);
            return;
        }
        if (isLost(now)) {
            drops++;
            return;
        }
        if (happens(spec.clog())) {
            clogUntilNs = now + 1 + random.nextLong(20 * (spec.delayNs() + spec.jitterNs()) + 1);
        }
        final MemorySegment arriving = happens(spec.corrupt()) ? corrupted(datagram) : datagram;
        deliver(lane, arriving, to, happens(spec.reorder()));
        if (happens(spec.duplicate())) {
            deliver(lane, arriving, to, random.nextBoolean());
        }
    }

    private boolean isLost(final long now) {
        if (now >= partitionFromNs && now < partitionToNs) {
            return true;
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

    private void deliver(final SimLane lane, final MemorySegment datagram, final End to, final boolean late) {
        final long now = events.nowNs();
        long arrival = now + spec.delayNs() + (spec.jitterNs() == 0 ? 0 : random.nextLong(spec.jitterNs()));
        arrival = Math.max(arrival, clogUntilNs);
        if (late) {
            arrival += random.nextLong(8 * (spec.delayNs() + spec.jitterNs()) + 1);
        } else {
            arrival = Math.max(arrival, lastArrivalNs.getOrDefault(lane, 0L));
            lastArrivalNs.put(lane, arrival);
        }
        events.at(arrival, () -> to.arrive(lane, datagram));
    }

    // Only what a checksum covers: payload has none, so a flipped payload bit would rightly go unseen.
    private MemorySegment corrupted(final MemorySegment datagram) {
        final byte[] bytes = datagram.toArray(JAVA_BYTE);
        if (random.nextInt(4) == 0) {
            return MemorySegment.ofArray(java.util.Arrays.copyOf(bytes, random.nextInt(bytes.length)));
        }
        final int bit = random.nextInt(8 * Math.min(HEADER_BYTES, bytes.length));
        bytes[bit >>> 3] ^= (byte) (1 << (bit & 7));
        return MemorySegment.ofArray(bytes);
    }
}
