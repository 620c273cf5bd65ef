package io.framecast.perf.chaos;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Random;

/// Draws faults from a seed: every kind once, in some order, then again in another.
final class FaultDraw {
    private static final long PAUSE_MIN_MS = 2_000;
    /// The first fault is no later than this.
    static final long PAUSE_MAX_MS = 5_000;
    private static final long RESTART_MAX_MS = 1_500;
    private static final long GARBAGE_MS = 500;
    private static final double BRIEF_MIN = 0.1;
    private static final double BRIEF_MAX = 0.6;
    private static final double LONG_MIN = 1.2;
    private static final double LONG_MAX = 1.6;

    private static final long CARRIER_MS = 1_000;
    private static final double CARRIER_SHARE = 0.8;

    private final ChaosPlan plan;
    private final Random random;
    private final long aliveTimeoutMs;
    private final Deque<FaultKind> bag = new ArrayDeque<>();

    FaultDraw(final ChaosPlan plan) {
        this.plan = plan;
        random = new Random(plan.seed());
        aliveTimeoutMs = plan.aliveTimeoutMs();
        // This bug shows only where a process is to be killed.
        if (plan.bug() == InjectedBug.SPARE) {
            bag.add(plan.areGroups() ? FaultKind.KILL_LEADER : FaultKind.KILL_SUBSCRIBER);
        }
    }

    DrawnFault next() {
        if (bag.isEmpty()) {
            final List<FaultKind> kinds = new ArrayList<>(List.of(FaultKind.values()));
            kinds.removeIf(kind -> !plan.isDone(kind));
            Collections.shuffle(kinds, random);
            bag.addAll(kinds);
        }
        final FaultKind kind = bag.removeFirst();
        final ChaosNetwork.Cut cut = random.nextBoolean() ? ChaosNetwork.Cut.LINK : ChaosNetwork.Cut.FILTER;
        final long durationMs = durationMs(kind, random.nextDouble());
        // The kernel reports a link that is up again at most once a second.
        final boolean isTooLong = !kind.isFatal() && durationMs + CARRIER_MS > aliveTimeoutMs * CARRIER_SHARE;
        return new DrawnFault(
                kind,
                PAUSE_MIN_MS + (long) (random.nextDouble() * (PAUSE_MAX_MS - PAUSE_MIN_MS)),
                durationMs,
                (long) (random.nextDouble() * RESTART_MAX_MS),
                random.nextInt(Integer.MAX_VALUE),
                isTooLong ? ChaosNetwork.Cut.FILTER : cut);
    }

    private long durationMs(final FaultKind kind, final double share) {
        if (kind.isKill()) {
            return 0;
        }
        if (kind.isOfEverybody()) {
            return GARBAGE_MS;
        }
        return (long) (aliveTimeoutMs
                * (kind.isLong()
                        ? LONG_MIN + share * (LONG_MAX - LONG_MIN)
                        : BRIEF_MIN + share * (BRIEF_MAX - BRIEF_MIN)));
    }
}
