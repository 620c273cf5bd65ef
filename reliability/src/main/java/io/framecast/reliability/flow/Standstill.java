package io.framecast.reliability.flow;

/// Notices that its own process stood still: it was stopped, suspended or without a CPU for a good part of the time
/// after which a silent peer counts as lost. Silence during that time is no evidence about the peer.
///
/// Pure state; one thread.
public final class Standstill {
    private static final int PARTS_OF_TIMEOUT = 4;
    // A shorter gap is a hiccup, however short the timeout.
    private static final long STANDSTILL_MIN_NS = 50_000_000;

    private final long timeoutNs;
    private long cycleNs = Long.MAX_VALUE;
    private long lastNs;
    private long untilNs;

    /// @param timeoutNs silence after which a peer counts as lost
    public Standstill(final long timeoutNs) {
        this.timeoutNs = timeoutNs;
    }

    /// A duty cycle begins.
    ///
    /// @return how long the process stood still before it; else 0
    public long onCycle(final long nowNs) {
        final long sinceNs = cycleNs == Long.MAX_VALUE ? 0 : nowNs - cycleNs;
        cycleNs = nowNs;
        if (sinceNs < Math.max(STANDSTILL_MIN_NS, timeoutNs / PARTS_OF_TIMEOUT)) {
            return 0;
        }
        lastNs = sinceNs;
        untilNs = nowNs;
        return sinceNs;
    }

    /// The next duty cycle is the first.
    public void forget() {
        cycleNs = Long.MAX_VALUE;
    }

    /// A peer that was asked before this time must have answered: it gets half of the timeout.
    public static long askedNs(final long timeoutNs, final long nowNs) {
        return nowNs - timeoutNs / 2;
    }

    /// How long the process stood still, where that was recently; else 0.
    public long recentNs(final long nowNs) {
        return lastNs > 0 && nowNs - untilNs <= timeoutNs ? lastNs : 0;
    }
}
