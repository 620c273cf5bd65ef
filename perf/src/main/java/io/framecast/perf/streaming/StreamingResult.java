package io.framecast.perf.streaming;

import io.framecast.perf.bench.Statistics;
import io.framecast.samples.json.Json;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// What came of one stream; NaN stands for what is not known.
///
/// @param ran what carried it, as its processes say
/// @param broadcastMBps at the receiver that got least
/// @param backgroundMBps copied in the background, each way, by the mean of the processes that did
/// @param latencyUs of frames alone, at the receiver that had them last
/// @param failure why there is nothing, or empty
record StreamingResult(
        Ran ran,
        double broadcastMBps,
        double backgroundMBps,
        double latencyUs,
        double latencyP99Us,
        double compilingShare,
        String failure) {
    /// @param checkedFrames frames of which every byte was compared, at the receiver with fewest
    record Ran(String transport, String placement, String device, long checkedFrames) {}

    static StreamingResult failed(final String why) {
        return new StreamingResult(
                new Ran("", "", "", 0), Double.NaN, Double.NaN, Double.NaN, Double.NaN, Double.NaN, why);
    }

    /// @param source the publisher's report
    /// @param receivers each one's
    static StreamingResult of(final Direction direction, final String source, final List<String> receivers) {
        final Map<?, ?> ofSource = parse(source);
        final List<? extends Map<?, ?>> all =
                receivers.stream().map(StreamingResult::parse).toList();
        double copied = 0;
        int copying = 0;
        if (direction.atSource().isAny()) {
            copied += number(ofSource, "background_MBps");
            copying++;
        }
        if (direction.atReceiver().isAny()) {
            copied += all.stream()
                    .mapToDouble(report -> number(report, "background_MBps"))
                    .sum();
            copying += all.size();
        }
        return new StreamingResult(
                new Ran(text(ofSource, "transport"), words(all, "placement"), words(all, "device"), (long) all.stream()
                        .mapToDouble(report -> number(report, "checked"))
                        .min()
                        .orElse(0)),
                most(all, report -> -number(report, "MBps")) * -1,
                copying == 0 ? 0 : copied / copying,
                positive(most(all, report -> number(report, "latency_us"))),
                positive(most(all, report -> number(report, "latency_p99_us"))),
                Math.max(number(ofSource, "compiling_share"), most(all, report -> number(report, "compiling_share"))),
                "");
    }

    private static double most(final List<? extends Map<?, ?>> reports, final ToDoubleFunction<Map<?, ?>> figure) {
        return reports.stream().mapToDouble(figure).max().orElse(Double.NaN);
    }

    private static double positive(final double value) {
        return value > 0 ? value : Double.NaN;
    }

    private static Map<?, ?> parse(final String text) {
        if (Json.parse(text) instanceof Map<?, ?> map) {
            return map;
        }
        throw new IllegalArgumentException("expected a report, got " + text);
    }

    private static double number(final Map<?, ?> report, final String name) {
        if (report.get(name) instanceof Number number) {
            return number.doubleValue();
        }
        throw new IllegalArgumentException("expected a number " + name + " in " + report);
    }

    private static String text(final Map<?, ?> report, final String name) {
        return String.valueOf(report.get(name));
    }

    // Receivers by turns on several devices name each once.
    private static String words(final List<? extends Map<?, ?>> reports, final String name) {
        return reports.stream().map(report -> text(report, name)).distinct().collect(Collectors.joining("+"));
    }

    boolean hasFailed() {
        return !failure.isEmpty();
    }

    Map<String, @Nullable Object> json() {
        final Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("broadcast_MBps", known(broadcastMBps));
        json.put("background_MBps", known(backgroundMBps));
        json.put("latency_us", known(latencyUs));
        json.put("latency_p99_us", known(latencyP99Us));
        json.put("compiling_share", known(compilingShare));
        json.put("checked_frames", ran.checkedFrames);
        json.put("failure", failure.isEmpty() ? null : failure);
        return json;
    }

    static @Nullable Double known(final double value) {
        return Double.isFinite(value) ? value : null;
    }

    /// Of one figure over some rounds.
    static Statistics of(final List<StreamingResult> rounds, final ToDoubleFunction<StreamingResult> figure) {
        return Statistics.of(
                rounds.stream().map(round -> figure.applyAsDouble(round)).toList());
    }
}
