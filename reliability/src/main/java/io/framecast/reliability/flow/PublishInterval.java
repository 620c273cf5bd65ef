package io.framecast.reliability.flow;

/// The times at which a session publishes its counters: at intervals that double while little happens, because to
/// publish costs more than the heartbeats of an idle session.
///
/// Pure state; one thread. Times are nanoseconds since the engine's start.
public final class PublishInterval {
    private static final long INTERVAL_NS = 10_000_000;
    // An idle session works ten to twenty times a second, for heartbeats; a stream of few frames a second does more.
    private static final long INTERVAL_MAX_NS = 320_000_000;
    private static final long BUSY_CYCLE_NS = 25_000_000;

    private long dueNs;
    private long intervalNs = INTERVAL_NS;
    private long publishedNs;
    // Cycles with work since the last publication.
    private int cycles;

    /// A duty cycle ends.
    ///
    /// @param work done in it
    /// @return whether the counters are to be published now
    public boolean onCycle(final int work, final long nowNs) {
        if (work > 0) {
            cycles++;
        }
        final boolean busy = cycles * BUSY_CYCLE_NS > nowNs - publishedNs;
        final boolean due = nowNs >= dueNs || (busy && nowNs - publishedNs >= INTERVAL_NS);
        if (due) {
            intervalNs = busy ? INTERVAL_NS : Math.min(2 * intervalNs, INTERVAL_MAX_NS);
            publishedNs = nowNs;
            dueNs = nowNs + intervalNs;
            cycles = 0;
        }
        return due;
    }
}
