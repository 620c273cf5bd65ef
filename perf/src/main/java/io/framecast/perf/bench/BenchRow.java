package io.framecast.perf.bench;

import java.util.List;
import java.util.function.ToDoubleFunction;

/// One system in one case: the medians of its rounds. NaN stands for what is not known.
///
/// @param transport `udp`, `aeron`, `floor`, `stock-aeron`, `tcp`
/// @param warmUpSeconds how long its processes ran before the rounds of its group
/// @param ratioToFloor goodput over the floor's; where latency is compared, p99 over the floor's
public record BenchRow(
        BenchCase setting,
        String transport,
        boolean framecast,
        List<RoundResult> rounds,
        double warmUpSeconds,
        double ratioToFloor,
        double ratioToAeron,
        double ratioToTcp) {

    public static BenchRow of(final BenchCase setting, final BenchSystem system, final List<RoundResult> rounds) {
        final String transport = rounds.stream()
                .filter(round -> !round.hasFailed())
                .map(RoundResult::transport)
                .findFirst()
                .orElse(system.transport());
        final double none = Double.NaN;
        return new BenchRow(setting, transport, system.isFramecast(), List.copyOf(rounds), none, none, none, none);
    }

    BenchRow withWarmUp(final double seconds) {
        return new BenchRow(setting, transport, framecast, rounds, seconds, ratioToFloor, ratioToAeron, ratioToTcp);
    }

    BenchRow withRatios(final double toFloor, final double toAeron, final double toTcp) {
        return new BenchRow(setting, transport, framecast, rounds, warmUpSeconds, toFloor, toAeron, toTcp);
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
