package io.framecast.reliability.sim.net;

import io.framecast.reliability.sim.record.SimCount;
import io.framecast.reliability.sim.record.SimJournal;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;

/// Datagrams of one lane that arrived and were not taken: bounded, as a socket's buffer is.
public final class SimInbox {
    private final ArrayDeque<MemorySegment> queue = new ArrayDeque<>();
    private final SimLane lane;
    private final int datagramsMax;
    private final SimJournal journal;

    public SimInbox(final SimLane lane, final int datagramsMax, final SimJournal journal) {
        this.lane = lane;
        this.datagramsMax = datagramsMax;
        this.journal = journal;
    }

    /// Takes a datagram, or loses it when there is no room.
    ///
    /// @return whether it was taken
    public boolean add(final MemorySegment datagram) {
        if (queue.size() >= datagramsMax) {
            journal.count(SimCount.DROPS);
            lose();
            return false;
        }
        queue.add(datagram);
        return true;
    }

    /// A datagram that arrived is lost here, as far as that counts on this lane.
    public void lose() {
        journal.count(SimCount.LOSSES, lane == SimLane.CONTROL ? 0 : 1);
    }

    public boolean isEmpty() {
        return queue.isEmpty();
    }

    public MemorySegment remove() {
        return queue.remove();
    }

    public void clear() {
        queue.clear();
    }

    public ArrayDeque<MemorySegment> queue() {
        return queue;
    }
}
