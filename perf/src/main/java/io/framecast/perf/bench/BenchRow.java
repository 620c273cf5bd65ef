package io.framecast.perf.bench;

import io.framecast.perf.table.Statistics;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/// One system in one case, with its rounds. NaN stands for a figure that is not known.
///
/// @param transport `udp`, `aeron`, `floor`, `stock-aeron`, `tcp`
/// @param warmUpSeconds how long its processes ran before the rounds of its group
/// @param ratios to other rows, by the names of their fields, as [BenchRows] makes them
public record BenchRow(
        BenchCase setting,
        String transport,
        boolean framecast,
        List<RoundResult> rounds,
        double warmUpSeconds,
        Map<String, Double> ratios) {

    static BenchRow of(
            final BenchCase setting,
            final BenchSystem system,
            final List<RoundResult> rounds,
            final double warmUpSeconds) {
        final String transport = rounds.stream()
                .filter(round -> !round.hasFailed())
                .map(RoundResult::transport)
                .findFirst()
                .orElse(system.transport());
        return new BenchRow(setting, transport, system.isFramecast(), rounds, warmUpSeconds, Map.of());
    }

    /// Median and spread of one figure over the rounds.
    Statistics of(final ToDoubleFunction<RoundResult> figure) {
        return Statistics.of(
                rounds.stream().map(round -> figure.applyAsDouble(round)).toList());
    }

    double median(final ToDoubleFunction<RoundResult> figure) {
        return of(figure).median();
    }

    /// The figure that systems are compared by.
    Statistics compared() {
        return of(setting.scenario().comparesLatency() ? RoundResult::p99Us : RoundResult::goodputMBps);
    }

    double ratio(final String name) {
        return ratios.getOrDefault(name, Double.NaN);
    }

    long lostFrames() {
        return rounds.stream().mapToLong(RoundResult::lostFrames).sum();
    }

    List<String> failures() {
        return rounds.stream()
                .filter(RoundResult::hasFailed)
                .map(RoundResult::failure)
                .toList();
    }
}
