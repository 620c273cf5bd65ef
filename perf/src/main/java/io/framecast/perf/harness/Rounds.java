package io.framecast.perf.harness;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Measures contenders in cases: first warms every contender up, then goes round by round with the contenders
/// of a case side by side, so that load from elsewhere hits all of them alike.
///
/// @param <C> a case
/// @param <S> a contender
/// @param <T> the result of a measurement
public final class Rounds<C, S, T> {
    private final Measuring<C, S, T> measuring;
    private final Set<S> warm = new HashSet<>();
    private final Map<S, MeasurementFailedException> failedWarmUps = new HashMap<>();

    public Rounds(final Measuring<C, S, T> measuring) {
        this.measuring = measuring;
    }

    /// Measures.
    public interface Measuring<C, S, T> {
        /// Runs the fresh processes of a contender until they are warm.
        void warmUp(S contender) throws InterruptedException, MeasurementFailedException;

        /// Measures once. After a failure the contender's processes are fresh.
        T measure(C setting, S contender) throws InterruptedException, MeasurementFailedException;

        /// The result of a measurement that failed.
        T failed(C setting, S contender, MeasurementFailedException why);

        /// A result is there.
        void onResult(int round, C setting, S contender, T result);
    }

    /// Warms contenders up. A warm-up that fails makes the contender's first measurement fail.
    public void warmUp(final Collection<S> contenders) throws InterruptedException {
        for (final S contender : contenders) {
            try {
                measuring.warmUp(contender);
                warm.add(contender);
            } catch (final MeasurementFailedException e) {
                failedWarmUps.put(contender, e);
            }
        }
    }

    /// @param cases each with its contenders
    /// @return the results of every case and contender, in order
    public Map<C, Map<S, List<T>>> run(final int rounds, final Map<C, List<S>> cases) throws InterruptedException {
        final Map<C, Map<S, List<T>>> results = new LinkedHashMap<>();
        for (int round = 0; round < rounds; round++) {
            for (final Map.Entry<C, List<S>> part : cases.entrySet()) {
                // Each contender comes first in some round: the one before it leaves heat and cold caches.
                for (int i = 0; i < part.getValue().size(); i++) {
                    final S contender =
                            part.getValue().get((i + round) % part.getValue().size());
                    final T result = attempt(part.getKey(), contender);
                    results.computeIfAbsent(part.getKey(), _ -> new LinkedHashMap<>())
                            .computeIfAbsent(contender, _ -> new ArrayList<>())
                            .add(result);
                    measuring.onResult(round, part.getKey(), contender, result);
                }
            }
        }
        return results;
    }

    /// The contender's processes are fresh.
    public void cool(final S contender) {
        warm.remove(contender);
    }

    private T attempt(final C setting, final S contender) throws InterruptedException {
        try {
            final MeasurementFailedException failed = failedWarmUps.remove(contender);
            if (failed != null) {
                throw failed;
            }
            if (!warm.contains(contender)) {
                measuring.warmUp(contender);
                warm.add(contender);
            }
            return measuring.measure(setting, contender);
        } catch (final MeasurementFailedException e) {
            warm.remove(contender);
            return measuring.failed(setting, contender, e);
        }
    }
}
