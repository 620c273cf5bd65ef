package io.framecast.reliability.sim;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;

/// Datagrams of one lane that arrived and were not taken: bounded, as a socket's buffer is.
final class SimInbox {
    private final ArrayDeque<MemorySegment> queue = new ArrayDeque<>();
    private final int datagramsMax;
    private long overflows;

    SimInbox(final int datagramsMax) {
        this.datagramsMax = datagramsMax;
    }

    /// Takes a datagram, or loses it when there is no room.
    ///
    /// @return whether it was taken
    boolean add(final MemorySegment datagram) {
        if (queue.size() >= datagramsMax) {
            overflows++;
            return false;
        }
        queue.add(datagram);
        return true;
    }

    boolean isEmpty() {
        return queue.isEmpty();
    }

    MemorySegment remove() {
        return queue.remove();
    }

    void clear() {
        queue.clear();
    }

    ArrayDeque<MemorySegment> queue() {
        return queue;
    }

    /// Datagrams lost because there was no room.
    long overflows() {
        return overflows;
    }
}
