package io.framecast.perf.bench;

/// How long things last.
///
/// @param warmUpMaxSeconds most that a publisher and one receiver run before their rounds, unless goodput is steady
/// @param leadSeconds how long the stream of a round runs before its frames count
/// @param seconds how long frames count
public record BenchTimes(double warmUpMaxSeconds, double leadSeconds, double seconds) {
    private static final double WARM_UP_SHARE_OF_RECEIVER = 0.25;
    private static final double WARM_UP_LEAD_SECONDS = 0.2;
    private static final double WARM_UP_SECONDS = 0.8;
    private static final double WARM_UP_ROUNDS_MIN = 3;

    /// Those of streams that are followed from the start of fresh processes on.
    static BenchTimes fromStart(final double seconds) {
        return new BenchTimes(0, 0, seconds);
    }

    boolean areFromStart() {
        return warmUpMaxSeconds + leadSeconds == 0;
    }

    /// More receivers have more to compile, on as many cores.
    double warmUpMaxSeconds(final int receivers) {
        return warmUpMaxSeconds * (1 + (receivers - 1) * WARM_UP_SHARE_OF_RECEIVER);
    }

    /// Those of one round of a warm-up: short, so that it can end when goodput is steady.
    BenchTimes ofWarmUp() {
        final double most = warmUpMaxSeconds / WARM_UP_ROUNDS_MIN / (WARM_UP_LEAD_SECONDS + WARM_UP_SECONDS);
        final double scale = Math.min(1, most);
        return new BenchTimes(0, scale * WARM_UP_LEAD_SECONDS, scale * WARM_UP_SECONDS);
    }
}
