package io.framecast.perf.streaming;

import io.framecast.perf.bench.Statistics;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/// What came of one case: medians of its rounds, and what the models say of it.
///
/// @param peak of the same without background
record StreamingRow(
        StreamingCase setting,
        StreamingPlan plan,
        List<StreamingResult> rounds,
        @Nullable StreamingRow peak,
        @Nullable Prediction prediction) {

    Statistics of(final ToDoubleFunction<StreamingResult> figure) {
        return StreamingResult.of(rounds, figure);
    }

    double median(final ToDoubleFunction<StreamingResult> figure) {
        return of(figure).median();
    }

    /// As the first round that did not fail says.
    StreamingResult.Ran ran() {
        return rounds.stream()
                .filter(round -> !round.hasFailed())
                .findFirst()
                .map(StreamingResult::ran)
                .orElse(new StreamingResult.Ran(
                        "",
                        setting.contender().placement(),
                        plan.devices().names().getFirst(),
                        0));
    }

    List<String> failures() {
        return rounds.stream()
                .filter(StreamingResult::hasFailed)
                .map(StreamingResult::failure)
                .toList();
    }

    /// Of goodput to that without background; NaN in a row without.
    double toPeak() {
        return peak == null
                ? Double.NaN
                : Statistics.ratio(median(StreamingResult::broadcastMBps), peak.median(StreamingResult::broadcastMBps));
    }

    /// What a row is called where several placements of one scheme stand side by side.
    String name() {
        return setting.contender().text();
    }

    Map<String, @Nullable Object> flat() {
        final StreamingResult.Ran ran = ran();
        final Statistics goodput = of(StreamingResult::broadcastMBps);
        final Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("scheme", setting.contender().scheme());
        json.put("scenario", setting.scenario());
        json.put("direction", setting.direction().label());
        json.put("placement", ran.placement());
        json.put("device", ran.device());
        json.put("emulated", ran.device().contains(DeviceChoice.EMULATED));
        json.put("subscribers", setting.subscribers());
        json.put("transport", ran.transport());
        json.put("source", plan.devices().sourceInDevice() ? "device" : "host");
        json.put("frame_bytes", plan.frameBytes());
        json.put("in_flight", plan.inFlight());
        json.put("broadcast_MBps", StreamingResult.known(goodput.median()));
        json.put("broadcast_MBps_min", StreamingResult.known(goodput.min()));
        json.put("broadcast_MBps_max", StreamingResult.known(goodput.max()));
        json.put("background_MBps", StreamingResult.known(median(StreamingResult::backgroundMBps)));
        json.put(
                "background_wanted_MBps",
                setting.direction() == Direction.NONE || plan.backgroundBytesPerSecond() == 0
                        ? null
                        : plan.backgroundBytesPerSecond() / 1e6);
        json.put("latency_us", StreamingResult.known(median(StreamingResult::latencyUs)));
        json.put("latency_p99_us", StreamingResult.known(median(StreamingResult::latencyP99Us)));
        json.put("ratio_to_peak", StreamingResult.known(toPeak()));
        json.put("predicted_MBps", prediction == null ? null : StreamingResult.known(prediction.MBps()));
        json.put("predicted_latency_us", prediction == null ? null : StreamingResult.known(prediction.latencyUs()));
        json.put("equation", prediction == null ? null : prediction.equation());
        return json;
    }

    Map<String, @Nullable Object> json() {
        final Map<String, @Nullable Object> json = flat();
        json.put("rounds", rounds.stream().map(StreamingResult::json).toList());
        json.put("failures", failures());
        return json;
    }
}
