package io.framecast.perf.streaming;

import io.framecast.perf.table.Statistics;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/// One contender in one case: its rounds, and the models' prediction.
///
/// @param peak the same without background; null in a row without
record StreamingRow(
        Contender contender,
        StreamingCase setting,
        StreamingPlan plan,
        List<StreamingResult> rounds,
        @Nullable StreamingRow peak,
        @Nullable Prediction prediction) {

    Statistics of(final ToDoubleFunction<StreamingResult> figure) {
        return Statistics.of(
                rounds.stream().map(round -> figure.applyAsDouble(round)).toList());
    }

    double median(final ToDoubleFunction<StreamingResult> figure) {
        return of(figure).median();
    }

    private Optional<StreamingResult> ran() {
        return rounds.stream().filter(round -> !round.hasFailed()).findFirst();
    }

    String transport() {
        return ran().map(StreamingResult::transport).orElse("");
    }

    String placement() {
        return ran().map(StreamingResult::placement).orElse(contender.placement());
    }

    String device() {
        return ran().map(StreamingResult::device).orElse(plan.devices().getFirst());
    }

    List<String> failures() {
        return rounds.stream()
                .filter(StreamingResult::hasFailed)
                .map(StreamingResult::failure)
                .toList();
    }

    /// Goodput over that without background; NaN in a row without.
    double toPeak() {
        return peak == null
                ? Double.NaN
                : Statistics.ratio(median(StreamingResult::broadcastMBps), peak.median(StreamingResult::broadcastMBps));
    }

    double predictedMBps() {
        return prediction == null ? Double.NaN : prediction.MBps();
    }

    double predictedLatencyUs() {
        return prediction == null ? Double.NaN : prediction.latencyUs();
    }
}
