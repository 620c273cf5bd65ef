package io.framecast.perf.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/// Untimed rounds of young processes until their goodput is steady and their compilers have next to nothing to do: what
/// is measured after is what a stream that runs for hours gets.
final class WarmUp {
    /// Rounds of one system, at full rate.
    interface Rounds {
        RoundResult run(BenchCase setting, BenchTimes times) throws InterruptedException, MeasurementFailedException;
    }

    private static final int ROUNDS_MIN = 3;
    private static final double STEADY_SHARE = 0.1;
    private static final double COMPILING_SHARE_MAX = 0.05;
    private static final double NS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);

    private final BenchTimes times;
    private final LongSupplier clockNs;
    private final Consumer<String> console;

    WarmUp(final BenchTimes times, final LongSupplier clockNs, final Consumer<String> console) {
        this.times = times;
        this.clockNs = clockNs;
        this.console = console;
    }

    /// @param settings share the time
    /// @return seconds it took
    double run(final String system, final List<BenchCase> settings, final Rounds rounds)
            throws InterruptedException, MeasurementFailedException {
        final long beginNs = clockNs.getAsLong();
        for (int i = 0; i < settings.size(); i++) {
            run(system, settings.get(i), rounds, beginNs + (long) (NS_PER_SECOND * maxSeconds(settings, i + 1)));
        }
        return seconds(beginNs);
    }

    private double maxSeconds(final List<BenchCase> settings, final int part) {
        return times.warmUpMaxSeconds(settings.getFirst().receivers()) * part / settings.size();
    }

    private void run(final String system, final BenchCase setting, final Rounds rounds, final long endNs)
            throws InterruptedException, MeasurementFailedException {
        final long beginNs = clockNs.getAsLong();
        final List<Double> goodputs = new ArrayList<>();
        double compiling = Double.NaN;
        boolean steady = false;
        do {
            final RoundResult result = rounds.run(setting, times.ofWarmUp());
            goodputs.add(result.goodputMBps());
            // Not a number where nothing arrived, or a system tells nothing of it: goodput alone counts then.
            compiling = result.compilingShare();
            steady = isSteady(goodputs) && !(compiling > COMPILING_SHARE_MAX);
        } while (!steady && clockNs.getAsLong() < endNs);
        console.accept(String.format(
                Locale.ROOT,
                "warm-up, %s, %s: %s after %.1f s (%s MB/s; at last %.0f %% of the time compiled)",
                setting.text(),
                system,
                steady ? "steady" : "not steady",
                seconds(beginNs),
                goodputs.stream()
                        .map(goodput -> String.format(Locale.ROOT, goodput < 10 ? "%.1f" : "%.0f", goodput))
                        .collect(Collectors.joining(", ")),
                100 * compiling));
    }

    private double seconds(final long beginNs) {
        return (clockNs.getAsLong() - beginNs) / NS_PER_SECOND;
    }

    /// Whether the last two differ by little. The first two do not tell: both may be before anything was compiled.
    static boolean isSteady(final List<Double> goodputs) {
        if (goodputs.size() < ROUNDS_MIN) {
            return false;
        }
        final double last = goodputs.getLast();
        final double before = goodputs.get(goodputs.size() - 2);
        return Math.abs(last - before) <= STEADY_SHARE * Math.max(last, before);
    }
}
