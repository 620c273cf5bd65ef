package io.framecast.perf.bench;

import io.framecast.perf.table.Outcome;
import io.framecast.perf.table.RoundsRow;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/// One system in one case, with its rounds. NaN stands for a figure that is not known.
///
/// @param warmUpSeconds how long its processes ran before the rounds of its group
/// @param ratios to other rows, by the names of their fields, as [BenchRows] makes them
record BenchRow(
        BenchCase setting,
        BenchSystem system,
        List<Outcome<RoundResult>> rounds,
        double warmUpSeconds,
        Map<String, Double> ratios)
        implements RoundsRow<RoundResult> {

    /// `udp`, `aeron`, `floor`, `stock-aeron`, `tcp`.
    String transport() {
        return first(RoundResult::transport).orElse(system.transport());
    }

    /// As tables and plots call the system.
    String label() {
        return system.label(transport());
    }

    @Override
    public boolean isFramecast() {
        return system.isFramecast();
    }

    /// The figure that systems are compared by.
    ToDoubleFunction<RoundResult> comparedFigure() {
        return setting.scenario().comparesLatency() ? RoundResult::p99Us : RoundResult::goodputMBps;
    }

    double ratio(final String name) {
        return ratios.getOrDefault(name, Double.NaN);
    }

    long lostFrames() {
        return results().stream().mapToLong(RoundResult::lostFrames).sum();
    }
}
