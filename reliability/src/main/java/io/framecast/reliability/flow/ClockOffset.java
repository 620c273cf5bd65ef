package io.framecast.reliability.flow;

/// The offset between a source's clock and this host's, from exchanges of four timestamps (Mills et al. 2010, RFC 5905
/// §8: θ = ((T2 − T1) + (T3 − T4)) / 2, δ = (T4 − T1) − (T3 − T2)). The true offset lies within δ / 2 of θ,
/// however long either direction takes. An exchange serves until a later one bounds the offset better: its bound grows
/// by the drift of two clocks.
///
/// Pure state; one thread. Times are nanoseconds.
public final class ClockOffset {
    /// Bound before the first exchange.
    public static final long UNKNOWN = Long.MAX_VALUE;

    private static final long FIRST_NS = 20_000_000;
    private static final int FIRST_ASKS = 8;
    private static final long INTERVAL_NS = 1_000_000_000;
    // Two quartz clocks that no NTP daemon disciplines.
    private static final long DRIFT_PPM = 100;
    private static final long PPM = 1_000_000;
    // No clock is set farther apart than 200 years, so that sums do not overflow.
    private static final long CLOCK_MAX_NS = 6_000_000_000_000_000_000L;

    private final long clockOffsetNs;
    private long offsetNs;
    private long errorNs = UNKNOWN;
    private long measuredNs;
    private long askedClockNs;
    private boolean asked;
    private int asks;
    private long dueNs = Long.MAX_VALUE;

    /// @param clockOffsetNs from the engine's time to this host's clock
    public ClockOffset(final long clockOffsetNs) {
        this.clockOffsetNs = clockOffsetNs;
    }

    /// Data came: the clock is wanted. While no data comes, no request goes out.
    public void onData(final long nowNs) {
        if (dueNs == Long.MAX_VALUE) {
            dueNs = asks == 0 ? nowNs : Math.max(nowNs, lastNs() + intervalNs());
        }
    }

    private long lastNs() {
        return askedClockNs - clockOffsetNs;
    }

    private long intervalNs() {
        return asks < FIRST_ASKS ? FIRST_NS : INTERVAL_NS;
    }

    /// The time at which the source is to be asked.
    public long dueNs() {
        return dueNs;
    }

    /// The source is asked now.
    ///
    /// @param nowNs no later than the question leaves
    /// @return T1
    public long ask(final long nowNs) {
        askedClockNs = nowNs + clockOffsetNs;
        asked = true;
        asks++;
        dueNs = Long.MAX_VALUE;
        return askedClockNs;
    }

    /// An answer came. Answers to anything but the newest question are ignored, and so are impossible ones.
    ///
    /// @param t1 this host's clock, as it asked
    /// @param t2 the source's clock, as it heard that
    /// @param t3 the source's clock, as it answered
    /// @param nowNs no earlier than the answer came: the bound holds for nothing else
    public void onAnswer(final long t1, final long t2, final long t3, final long nowNs) {
        final long t4 = nowNs + clockOffsetNs;
        if (!asked
                || t1 != askedClockNs
                || t2 > t3
                || Math.abs(t2 / 2) > CLOCK_MAX_NS / 2
                || t3 / 2 > CLOCK_MAX_NS / 2) {
            return;
        }
        final long delta = (t4 - t1) - (t3 - t2);
        if (t4 < t1 || delta < 0) {
            return;
        }
        asked = false;
        if (delta / 2 <= boundNs(nowNs)) {
            offsetNs = (t2 - t1) / 2 + (t3 - t4) / 2;
            errorNs = delta / 2 + 1;
            measuredNs = nowNs;
        }
    }

    /// The source's clock less this host's.
    public long offsetNs() {
        return offsetNs;
    }

    /// When the exchange ended that gave the offset, by the engine's time.
    public long measuredNs() {
        return measuredNs;
    }

    /// The offset is known to within this; [#UNKNOWN] before the first answer.
    public long boundNs(final long nowNs) {
        return errorNs == UNKNOWN ? UNKNOWN : errorNs + Math.max(0, nowNs - measuredNs) / PPM * DRIFT_PPM;
    }
}
