package io.framecast.perf.table;

import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/// A row whose figures come from the rounds of one contender in one case.
///
/// @param <T> the result of a round
public interface RoundsRow<T> {
    List<Outcome<T>> rounds();

    /// The results of the rounds that have not failed.
    default List<T> results() {
        return rounds().stream().flatMap(round -> round.result().stream()).toList();
    }

    /// Whether it is Framecast that was measured, and no rival.
    boolean isFramecast();

    /// Median and spread of one figure over the rounds.
    default Statistics of(final ToDoubleFunction<T> figure) {
        return Statistics.of(results().stream().map(figure::applyAsDouble).toList());
    }

    default double median(final ToDoubleFunction<T> figure) {
        return of(figure).median();
    }

    /// A text of the first round that has not failed.
    default Optional<String> first(final Function<T, String> text) {
        return results().stream().map(text).findFirst();
    }

    default List<String> failures() {
        return rounds().stream()
                .filter(Outcome::hasFailed)
                .map(Outcome::failure)
                .toList();
    }

    /// The median, or how many rounds failed.
    default String medianOrFailures(final ToDoubleFunction<T> figure) {
        return failures().isEmpty()
                ? Table.decimal(median(figure), 0)
                : failures().size() + " failed";
    }
}
