package io.framecast.reliability.sim;

import io.framecast.reliability.lane.SendLanePort;
import io.framecast.reliability.sim.net.SimLane;
import io.framecast.reliability.sim.net.SimLink;
import io.framecast.reliability.sim.record.SimLoans;
import io.framecast.reliability.window.WindowMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.random.RandomGenerator;

/// A lane of the source: takes slots at the rate of its link. Like a NIC, it reads each slot when it sends it,
/// which may be later: now and then it sends nothing for a while, as a full send queue does, though the other
/// lanes pass. Datagrams for one peer are sent at once.
final class SimSendLane implements SendLanePort {
    private static final int REFUSES = 16;
    private static final int JAMS = 24;
    private static final long JAM_SHORT_NS = 3_000_000;
    private static final long JAM_LONG_NS = 150_000_000;

    private final SimSource source;
    private final SimLane lane;
    private final WindowMemory memory;
    private final SimLoans loans;
    private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
    private final RandomGenerator random;
    private final boolean restless;
    private final int batchMax;
    private final long datagramNs;
    private long submitted;
    // By the true clock.
    private long freeNs;
    private long jammedUntilNs;

    /// A slot that is taken and not sent.
    private record Waiting(int slot, long sinceNs) {}

    /// @param datagramNs a datagram's time on the link; 0 for a lane without a rate, which never jams
    SimSendLane(
            final SimSource source,
            final SimLane lane,
            final WindowMemory memory,
            final SimLoans loans,
            final RandomGenerator random,
            final long datagramNs) {
        this.source = source;
        this.lane = lane;
        this.memory = memory;
        this.loans = loans;
        this.random = random;
        restless = source.world().options().faults().unrest() > 0;
        batchMax = source.world().options().flow().batchMax();
        this.datagramNs = datagramNs;
    }

    @Override
    public int connect(final byte[] address) {
        return source.address(address);
    }

    @Override
    public void disconnect(final int peer) {
        // The lane keeps no state of peers.
    }

    @Override
    public int multicast(final int firstSlot, final int count) {
        final int taken = taken(firstSlot, count);
        for (int i = 0; i < taken; i++) {
            waiting.add(new Waiting(firstSlot + i, source.events().nowNs()));
        }
        submitted += taken;
        source.onSubmitted(lane, firstSlot, taken);
        pass();
        return taken;
    }

    // The probe's slot lies behind the window, and waits for no rate.
    private int taken(final int firstSlot, final int count) {
        if (datagramNs == 0) {
            return restless && random.nextInt(REFUSES) == 0 ? random.nextInt(count) : count;
        }
        if (firstSlot == memory.slots()) {
            return count;
        }
        if (source.events().nowNs() < freeNs) {
            return 0;
        }
        final int taken = Math.min(count, batchMax);
        freeNs = source.events().nowNs() + taken * datagramNs;
        return taken;
    }

    /// Datagrams that it took and has not sent.
    int waiting() {
        return waiting.size();
    }

    /// Sends the waiting datagrams that the lane admits.
    void pass() {
        final long nowNs = source.events().nowNs();
        while (!waiting.isEmpty() && !isJammed(nowNs)) {
            final Waiting next = waiting.remove();
            if (nowNs - next.sinceNs > SimLink.LATE_NS) {
                source.onLate();
            }
            source.multicast(lane, datagram(next.slot));
        }
    }

    private boolean isJammed(final long nowNs) {
        if (restless && datagramNs > 0 && nowNs >= jammedUntilNs && random.nextInt(JAMS) == 0) {
            jammedUntilNs = nowNs + random.nextLong(random.nextInt(16) == 0 ? JAM_LONG_NS : JAM_SHORT_NS);
        }
        return nowNs < jammedUntilNs;
    }

    @Override
    public int unicast(final int peer, final int firstSlot, final int count) {
        final int taken = taken(firstSlot, count);
        submitted += taken;
        source.onSubmitted(lane, firstSlot, taken);
        for (int i = 0; i < taken; i++) {
            source.unicast(peer, lane, datagram(firstSlot + i));
        }
        return taken;
    }

    private MemorySegment datagram(final int slot) {
        final byte[] bytes = new byte[memory.headerBytes() + memory.lengths()[slot]];
        MemorySegment.copy(
                memory.headers(), ValueLayout.JAVA_BYTE, memory.headerOffset(slot), bytes, 0, memory.headerBytes());
        loans.copy(slot, bytes, memory.headerBytes());
        return MemorySegment.ofArray(bytes);
    }

    @Override
    public long submitted() {
        return submitted;
    }

    @Override
    public long completed() {
        return submitted - waiting.size();
    }

    /// The time at which it takes new data, by the true clock.
    long freeNs() {
        return freeNs;
    }

    /// The time at which waiting datagrams may go on, by the true clock; MAX_VALUE when none waits.
    long passNs() {
        return waiting.isEmpty() ? Long.MAX_VALUE : jammedUntilNs;
    }
}
