package io.framecast.engine.session;

import io.framecast.engine.memory.NumaPolicy;
import io.framecast.engine.metrics.CounterTable;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.agrona.concurrent.NanoClock;

/// The node's services and settings that sessions use.
///
/// @param seed of back-off, skew and injected loss
/// @param lossProbability injected loss, 0 ≤ p < 1
/// @param notices one-line notices for an operator
/// @param clock the engine's time
/// @param epochOffsetNs difference between the engine's time and nanoseconds since the epoch
/// @param counters the node's counters
/// @param memoryNode the NUMA node whose memory sessions take; [NumaPolicy#ANY_NODE] for any
public record SessionContext(
        long seed,
        double lossProbability,
        Consumer<String> notices,
        NanoClock clock,
        long epochOffsetNs,
        CounterTable counters,
        int memoryNode) {
    /// Sent without acknowledgement, so more than one.
    public static final int GOODBYES = 3;

    /// A process that stands still again and again reports it no sooner.
    public static final long STANDSTILL_NOTICE_NS = 10_000_000_000L;

    /// The same for sessions that take memory of one NUMA node.
    public SessionContext on(final int node) {
        return new SessionContext(seed, lossProbability, notices, clock, epochOffsetNs, counters, node);
    }

    /// To be open while a session takes its memory.
    public NumaPolicy memoryPolicy() {
        return NumaPolicy.prefer(memoryNode, notices);
    }

    public RandomGenerator random() {
        return new SplittableRandom(seed);
    }
}
