package io.framecast.perf;

import java.util.Arrays;
import java.util.List;

/// What [AeronComparison] is asked to measure.
///
/// @param socketBufferBytes of every system alike; 0 for what each gets by itself
/// @param json file for the result as JSON, `-` for stdout, empty for none
record ComparisonPlan(
        int rounds, double seconds, List<Integer> mtuBytes, int frameBytes, int socketBufferBytes, String json) {
    static final ComparisonPlan DEFAULT = new ComparisonPlan(7, 2, List.of(65_536, 8192, 1500), 6_220_800, 0, "");

    ComparisonPlan {
        if (rounds < 1 || seconds <= 0 || frameBytes < FrameStamp.BYTES_MIN || socketBufferBytes < 0) {
            throw new IllegalArgumentException("expected --rounds 1 …, --seconds above 0, --frame-bytes "
                    + FrameStamp.BYTES_MIN + " …, --socket-buffer 0 …");
        }
    }

    static ComparisonPlan parse(final String[] arguments) {
        ComparisonPlan plan = DEFAULT;
        for (int i = 0; i < arguments.length; i += 2) {
            if (i + 1 == arguments.length) {
                throw new IllegalArgumentException(arguments[i] + ": expected a value");
            }
            plan = plan.with(arguments[i], arguments[i + 1]);
        }
        return plan;
    }

    private ComparisonPlan with(final String option, final String value) {
        return switch (option) {
            case "--rounds" ->
                new ComparisonPlan(Integer.parseInt(value), seconds, mtuBytes, frameBytes, socketBufferBytes, json);
            case "--seconds" ->
                new ComparisonPlan(rounds, Double.parseDouble(value), mtuBytes, frameBytes, socketBufferBytes, json);
            case "--mtu" -> {
                final List<Integer> mtus =
                        Arrays.stream(value.split(",")).map(Integer::valueOf).toList();
                yield new ComparisonPlan(rounds, seconds, mtus, frameBytes, socketBufferBytes, json);
            }
            case "--frame-bytes" ->
                new ComparisonPlan(rounds, seconds, mtuBytes, Integer.parseInt(value), socketBufferBytes, json);
            case "--socket-buffer" ->
                new ComparisonPlan(rounds, seconds, mtuBytes, frameBytes, Integer.parseInt(value), json);
            case "--json" -> new ComparisonPlan(rounds, seconds, mtuBytes, frameBytes, socketBufferBytes, value);
            default ->
                throw new IllegalArgumentException(
                        option + ": expected --rounds, --seconds, --mtu, --frame-bytes, --socket-buffer or --json");
        };
    }
}
