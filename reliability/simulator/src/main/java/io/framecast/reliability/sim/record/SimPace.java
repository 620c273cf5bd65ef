package io.framecast.reliability.sim.record;

import io.framecast.reliability.sim.plan.SimOptions;
import java.util.random.RandomGenerator;

/// The times at which a publisher's frames are due, by the true clock: at equal intervals, or with pauses of any
/// length and bursts without a pause.
public final class SimPace {
    private static final long PAUSE_MAX_NS = 2_000_000;
    private static final long BREAK_MAX_NS = 400_000_000;
    // Small frames without a pause between them.
    private static final int BURSTS = 6;
    private static final int BURST_MAX = 8;

    private final double load;
    private final long datagramNs;
    private final RandomGenerator random;
    private final RandomGenerator bursts;
    private final boolean isRestless;
    private final long pauseMaxNs;
    private final long breakMaxNs;
    private int burst;
    private long nextNs;

    /// @param bursts draws bursts, so that they change nothing else in a run
    /// @param spreadNs time of each frame in a stream that is to last; 0 for any
    /// @param beginNs time of the first frame
    public SimPace(
            final SimOptions options,
            final RandomGenerator random,
            final RandomGenerator bursts,
            final long spreadNs,
            final long beginNs) {
        load = options.flow().load();
        datagramNs = options.flow().datagramNs();
        this.random = random;
        this.bursts = bursts;
        isRestless = options.faults().unrest() > 0;
        pauseMaxNs = options.faults().unrest() == 0 ? 1 : 1 + random.nextLong(PAUSE_MAX_NS);
        breakMaxNs = Math.min(BREAK_MAX_NS, (long) (4 * spreadNs * random.nextDouble()));
        nextNs = beginNs;
    }

    /// The time at which the next frame is due.
    public long nextNs() {
        return nextNs;
    }

    /// Whether the next frame follows without a pause.
    public boolean isBurst() {
        return burst > 0;
    }

    /// A frame of so many datagrams begins.
    public void onFrame(final long slots, final long nowNs) {
        burst = burst > 0 ? burst - 1 : isRestless && bursts.nextInt(BURSTS) == 0 ? bursts.nextInt(BURST_MAX) : 0;
        nextNs = load > 0 ? nextNs + (long) (slots * datagramNs / load) : nowNs + pauseNs();
    }

    private long pauseNs() {
        if (burst > 0) {
            return 0;
        }
        return breakMaxNs > 0 && random.nextBoolean() ? random.nextLong(breakMaxNs) : random.nextLong(pauseMaxNs);
    }
}
