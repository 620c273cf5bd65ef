package io.framecast.reliability.sim.net;

import java.util.ArrayDeque;
import java.util.random.RandomGenerator;

/// A transport's queue of unsent datagrams: now and then it sends nothing for a while, as a full send queue does,
/// though the other lanes pass.
public final class SimJam {
    private static final int ONE_OF = 24;
    private static final long SHORT_NS = 3_000_000;
    private static final long LONG_NS = 150_000_000;

    private final boolean used;
    private final RandomGenerator random;
    private final ArrayDeque<Integer> queue = new ArrayDeque<>();
    private long untilNs;

    public SimJam(final boolean used, final RandomGenerator random) {
        this.used = used;
        this.random = random;
    }

    public void add(final int slot) {
        queue.add(slot);
    }

    public boolean isEmpty() {
        return queue.isEmpty();
    }

    public int size() {
        return queue.size();
    }

    /// The slot of the next datagram.
    public int remove() {
        return queue.remove();
    }

    /// Whether the next datagram must wait.
    public boolean isShut(final long nowNs) {
        if (used && nowNs >= untilNs && random.nextInt(ONE_OF) == 0) {
            untilNs = nowNs + random.nextLong(random.nextInt(16) == 0 ? LONG_NS : SHORT_NS);
        }
        return nowNs < untilNs;
    }

    /// The time at which it may send again.
    public long untilNs() {
        return untilNs;
    }
}
