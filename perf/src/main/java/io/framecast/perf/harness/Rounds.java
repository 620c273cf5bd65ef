package io.framecast.perf.harness;

import io.framecast.perf.table.Outcome;
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
    private boolean framesDiffered;

    public Rounds(final Measuring<C, S, T> measuring) {
        this.measuring = measuring;
    }

    /// Measures.
    public interface Measuring<C, S, T> {
        /// Runs the fresh processes of a contender until they are warm.
        void warmUp(S contender) throws InterruptedException, MeasurementFailedException;

        /// Measures once. After a failure the contender's processes are fresh.
        T measure(C setting, S contender) throws InterruptedException, MeasurementFailedException;

        /// Whether the contender is Framecast, whose frames may not differ, and no rival.
        boolean isFramecast(S contender);

        /// A measurement is done, or has failed.
        void onOutcome(int round, C setting, S contender, Outcome<T> outcome);
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
    /// @return the outcomes of every case and contender, in order
    public Map<C, Map<S, List<Outcome<T>>>> run(final int rounds, final Map<C, List<S>> cases)
            throws InterruptedException {
        final Map<C, Map<S, List<Outcome<T>>>> outcomes = new LinkedHashMap<>();
        for (int round = 0; round < rounds; round++) {
            for (final Map.Entry<C, List<S>> part : cases.entrySet()) {
                // Each contender comes first in some round: the one before it leaves heat and cold caches.
                for (int i = 0; i < part.getValue().size(); i++) {
                    final S contender =
                            part.getValue().get((i + round) % part.getValue().size());
                    final Outcome<T> outcome = attempt(part.getKey(), contender);
                    outcomes.computeIfAbsent(part.getKey(), _ -> new LinkedHashMap<>())
                            .computeIfAbsent(contender, _ -> new ArrayList<>())
                            .add(outcome);
                    measuring.onOutcome(round, part.getKey(), contender, outcome);
                }
            }
        }
        return outcomes;
    }

    /// The contender's processes are fresh.
    public void cool(final S contender) {
        warm.remove(contender);
    }

    /// Whether Framecast delivered frames that differ from those published.
    public boolean haveFramesDiffered() {
        return framesDiffered;
    }

    private Outcome<T> attempt(final C setting, final S contender) throws InterruptedException {
        try {
            final MeasurementFailedException failed = failedWarmUps.remove(contender);
            if (failed != null) {
                throw failed;
            }
            if (!warm.contains(contender)) {
                measuring.warmUp(contender);
                warm.add(contender);
            }
            return Outcome.of(measuring.measure(setting, contender));
        } catch (final MeasurementFailedException e) {
            warm.remove(contender);
            framesDiffered |=
                    measuring.isFramecast(contender) && e.reason() == MeasurementFailedException.Reason.FRAMES_DIFFER;
            return Outcome.failed(String.valueOf(e.getMessage()));
        }
    }
}
