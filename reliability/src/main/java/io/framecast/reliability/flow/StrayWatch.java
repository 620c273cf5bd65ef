package io.framecast.reliability.flow;

import java.util.function.LongSupplier;

/// Decides when datagrams of strangers are worth a warning: when many arrive for some seconds, and once a minute
/// at most. Single strays are normal.
///
/// Pure state; one thread. Times are nanoseconds since the engine's start.
public final class StrayWatch {
    /// Time between two looks, and before the first.
    public static final long LOOK_NS = 1_000_000_000;

    private static final long PER_LOOK_MIN = 20;
    private static final int LOOKS_MIN = 2;
    private static final long AGAIN_NS = 60_000_000_000L;

    private final Interval looking = new Interval(LOOK_NS);
    private final Interval warning = new Interval(AGAIN_NS);
    private long seen;
    private int looks;

    public StrayWatch() {
        looking.begin(0);
    }

    /// In each cycle: looks where a look is due.
    ///
    /// @param strays gives the datagrams of strangers so far
    /// @return datagrams since the last look, where they are worth a warning; else 0
    public long look(final LongSupplier strays, final long nowNs) {
        if (!looking.take(nowNs)) {
            return 0;
        }
        final long now = strays.getAsLong();
        final long more = now - seen;
        seen = now;
        looks = more >= PER_LOOK_MIN ? looks + 1 : 0;
        return looks >= LOOKS_MIN && warning.take(nowNs) ? more : 0;
    }
}
