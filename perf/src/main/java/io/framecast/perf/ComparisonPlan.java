package io.framecast.perf;

import java.util.Arrays;
import java.util.List;

/// What [AeronComparison] is asked to measure.
///
/// @param systems `aeron` or `framecast[:TRANSPORT][|KEY=VALUE…]`; ratios need `aeron` among them
/// @param socketBufferBytes of every system alike; 0 for what each gets by itself
/// @param json file for the result as JSON, `-` for stdout, empty for none
record ComparisonPlan(
        int rounds,
        double seconds,
        List<Integer> mtuBytes,
        List<String> systems,
        int frameBytes,
        int socketBufferBytes,
        String json) {
    private static final List<String> SYSTEMS =
            List.of(AeronComparison.FRAMECAST_DEFAULT, AeronComparison.STOCK_AERON, AeronComparison.FRAMECAST_AERON);

    static final ComparisonPlan DEFAULT =
            new ComparisonPlan(7, 2, List.of(65_536, 8192, 1500), SYSTEMS, 6_220_800, 0, "");

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
                new ComparisonPlan(
                        Integer.parseInt(value), seconds, mtuBytes, systems, frameBytes, socketBufferBytes, json);
            case "--seconds" ->
                new ComparisonPlan(
                        rounds, Double.parseDouble(value), mtuBytes, systems, frameBytes, socketBufferBytes, json);
            case "--mtu" -> {
                final List<Integer> mtus =
                        Arrays.stream(value.split(",")).map(Integer::valueOf).toList();
                yield new ComparisonPlan(rounds, seconds, mtus, systems, frameBytes, socketBufferBytes, json);
            }
            case "--systems" ->
                new ComparisonPlan(
                        rounds, seconds, mtuBytes, List.of(value.split(",")), frameBytes, socketBufferBytes, json);
            case "--frame-bytes" ->
                new ComparisonPlan(
                        rounds, seconds, mtuBytes, systems, Integer.parseInt(value), socketBufferBytes, json);
            case "--socket-buffer" ->
                new ComparisonPlan(rounds, seconds, mtuBytes, systems, frameBytes, Integer.parseInt(value), json);
            case "--json" ->
                new ComparisonPlan(rounds, seconds, mtuBytes, systems, frameBytes, socketBufferBytes, value);
            default ->
                throw new IllegalArgumentException(option
                        + ": expected --rounds, --seconds, --mtu, --systems, --frame-bytes, --socket-buffer or --json");
        };
    }
}
