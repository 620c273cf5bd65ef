package io.framecast.reliability.sim.net;

/// The clock of one process: it began to count at some time of the true clock, from some number, and counts a
/// little too fast or too slow.
///
/// @param startNs of the true clock
/// @param readsNs its reading at that time
/// @param ratePpm millionths that it gains
public record SimClock(long startNs, long readsNs, int ratePpm) {
    public static final int RATE_PPM_MAX = 200;
    public static final SimClock TRUE = new SimClock(0, 0, 0);

    private static final long MILLION = 1_000_000;

    /// Its reading at a time of the true clock.
    public long at(final long trueNs) {
        final long ns = trueNs - startNs;
        return readsNs + ns + Math.floorDiv(ns * ratePpm, MILLION);
    }

    /// The first time of the true clock at which its reading is `ns` or more.
    public long trueNs(final long ns) {
        long guess = startNs + (ns - readsNs) / (MILLION + ratePpm) * MILLION;
        guess += Math.max(0, ns - at(guess)) * MILLION / (MILLION + ratePpm);
        while (at(guess) < ns) {
            guess++;
        }
        while (at(guess - 1) >= ns) {
            guess--;
        }
        return guess;
    }
}
