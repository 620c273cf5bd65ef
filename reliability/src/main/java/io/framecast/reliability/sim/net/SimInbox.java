package io.framecast.reliability.sim.net;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;

/// Datagrams of one lane that arrived and were not taken: bounded, as a socket's buffer is.
public final class SimInbox {
    private final ArrayDeque<MemorySegment> queue = new ArrayDeque<>();
    private final int datagramsMax;
    private long overflows;

    public SimInbox(final int datagramsMax) {
        this.datagramsMax = datagramsMax;
    }

    /// Takes a datagram, or loses it when there is no room.
    ///
    /// @return whether it was taken
    public boolean add(final MemorySegment datagram) {
        if (queue.size() >= datagramsMax) {
            overflows++;
            return false;
        }
        queue.add(datagram);
        return true;
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

    /// Datagrams lost because there was no room.
    public long overflows() {
        return overflows;
    }
}
