package io.framecast.perf.streaming;

import io.framecast.perf.table.Outcome;
import io.framecast.perf.table.RoundsRow;
import io.framecast.perf.table.Statistics;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One contender in one case: its rounds, and the models' prediction.
///
/// @param peak the same without background; null in a row without
record StreamingRow(
        Contender contender,
        StreamingCase setting,
        StreamingPlan plan,
        List<Outcome<StreamingResult>> rounds,
        @Nullable StreamingRow peak,
        @Nullable Prediction prediction)
        implements RoundsRow<StreamingResult> {

    @Override
    public boolean isFramecast() {
        return contender.isFramecast();
    }

    String transport() {
        return first(StreamingResult::transport).orElse("");
    }

    String placement() {
        return first(StreamingResult::placement).orElse(contender.placement());
    }

    String device() {
        return first(StreamingResult::device).orElse(plan.devices().getFirst());
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
