package io.framecast.perf.harness;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/// Untimed rounds of young processes until their goodput is steady and their compilers have next to nothing to
/// do. Measurements after it are of a stream that has run for hours.
public final class WarmUp {
    private static final int ROUNDS_MIN = 3;
    private static final double STEADY_SHARE = 0.1;
    private static final double COMPILING_SHARE_MAX = 0.05;
    private static final double NS_PER_SECOND = 1e9;

    private final LongSupplier clockNs;
    private final Consumer<String> console;

    public WarmUp(final LongSupplier clockNs, final Consumer<String> console) {
        this.clockNs = clockNs;
        this.console = console;
    }

    /// The figures of one round.
    ///
    /// @param compilingShare of the time that compilers worked; NaN where that is not known: goodput alone
    ///     counts then
    public record Round(double goodputMBps, double compilingShare) {}

    /// One untimed round.
    public interface Rounds {
        Round run() throws InterruptedException, MeasurementFailedException;
    }

    /// @param what names the processes in the console's line
    /// @param endNs when the warm-up ends also when it is not steady
    public void run(final String what, final long endNs, final Rounds rounds)
            throws InterruptedException, MeasurementFailedException {
        final long beginNs = clockNs.getAsLong();
        final List<Double> goodputs = new ArrayList<>();
        double compiling;
        boolean steady;
        do {
            final Round round = rounds.run();
            goodputs.add(round.goodputMBps);
            compiling = round.compilingShare;
            steady = isSteady(goodputs) && !(compiling > COMPILING_SHARE_MAX);
        } while (!steady && clockNs.getAsLong() < endNs);
        console.accept(String.format(
                Locale.ROOT,
                "warm-up, %s: %s after %.1f s (%s MB/s; at last %.0f %% of the time compiled)",
                what,
                steady ? "steady" : "not steady",
                (clockNs.getAsLong() - beginNs) / NS_PER_SECOND,
                goodputs.stream()
                        .map(goodput -> String.format(Locale.ROOT, goodput < 10 ? "%.1f" : "%.0f", goodput))
                        .collect(Collectors.joining(", ")),
                100 * compiling));
    }

    /// Whether the last two differ by little. The first two prove nothing: both may be before anything was
    /// compiled.
    public static boolean isSteady(final List<Double> goodputs) {
        if (goodputs.size() < ROUNDS_MIN) {
            return false;
        }
        final double last = goodputs.getLast();
        final double before = goodputs.get(goodputs.size() - 2);
        return Math.abs(last - before) <= STEADY_SHARE * Math.max(last, before);
    }
}
