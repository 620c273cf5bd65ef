package io.framecast.perf.table;

import java.util.Optional;
import java.util.function.ToDoubleFunction;

/// The outcome of one round: its result, or why there is none.
///
/// @param failure empty where there is a result
public record Outcome<T>(Optional<T> result, String failure) {
    public static <T> Outcome<T> of(final T result) {
        return new Outcome<>(Optional.of(result), "");
    }

    public static <T> Outcome<T> failed(final String why) {
        return new Outcome<>(Optional.empty(), why);
    }

    public boolean hasFailed() {
        return result.isEmpty();
    }

    /// One figure of the result; NaN where there is none.
    public double figure(final ToDoubleFunction<T> figure) {
        return result.map(figure::applyAsDouble).orElse(Double.NaN);
    }
}
