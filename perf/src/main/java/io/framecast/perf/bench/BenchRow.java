package io.framecast.perf.bench;

import java.util.List;
import java.util.function.ToDoubleFunction;

/// One system in one case: the medians of its rounds. NaN stands for what is not known.
///
/// @param transport `udp`, `aeron`, `floor`, `stock-aeron`, `tcp`
/// @param warmUpSeconds how long its processes ran before the rounds of its group
public record BenchRow(
        BenchCase setting,
        String transport,
        boolean framecast,
        List<RoundResult> rounds,
        double warmUpSeconds,
        Ratios ratios) {

    /// Median over median, of what is compared: goodput, or p99 where the scenario asks for latency.
    ///
    /// @param toClean to the same system in the same case without loss
    /// @param cpu CPU seconds per GB
    /// @param toFewest to the same system in the same case with the fewest receivers
    public record Ratios(
            double toFloor, double toAeron, double toTcp, double toClean, Cpu cpu, ToFewest toFewest, Beside beside) {
        public static final Ratios NONE = new Ratios(
                Double.NaN,
                Double.NaN,
                Double.NaN,
                Double.NaN,
                new Cpu(Double.NaN, Double.NaN, Double.NaN),
                new ToFewest(Double.NaN, Double.NaN, Double.NaN),
                new Beside(Double.NaN, Double.NaN));

        /// Of CPU seconds per GB.
        public record Cpu(double toFloor, double toAeron, double toTcp) {}

        /// What a bystander changes: goodput to the same without one, and to the same beside one of the same
        /// policy that is fast enough.
        public record Beside(double toAlone, double toHealthy) {}

        /// What more receivers change.
        public record ToFewest(double goodput, double sourceCpuPerFrame, double sourceWireBytes) {}
    }

    public static BenchRow of(final BenchCase setting, final BenchSystem system, final List<RoundResult> rounds) {
        final String transport = rounds.stream()
                .filter(round -> !round.hasFailed())
                .map(RoundResult::transport)
                .findFirst()
                .orElse(system.transport());
        return new BenchRow(setting, transport, system.isFramecast(), List.copyOf(rounds), Double.NaN, Ratios.NONE);
    }

    BenchRow withWarmUp(final double seconds) {
        return new BenchRow(setting, transport, framecast, rounds, seconds, ratios);
    }

    BenchRow withRatios(final Ratios value) {
        return new BenchRow(setting, transport, framecast, rounds, warmUpSeconds, value);
    }

    /// Median and spread of one figure over the rounds.
    public Statistics of(final ToDoubleFunction<RoundResult> figure) {
        return Statistics.of(
                rounds.stream().map(round -> figure.applyAsDouble(round)).toList());
    }

    public double median(final ToDoubleFunction<RoundResult> figure) {
        return of(figure).median();
    }

    /// What this system is compared by.
    public Statistics compared() {
        return setting.scenario().comparesLatency() ? of(RoundResult::p99Us) : of(RoundResult::goodputMBps);
    }

    /// Of all rounds.
    public long lostFrames() {
        return rounds.stream().mapToLong(RoundResult::lostFrames).sum();
    }

    public List<String> failures() {
        return rounds.stream()
                .filter(RoundResult::hasFailed)
                .map(RoundResult::failure)
                .toList();
    }
}
