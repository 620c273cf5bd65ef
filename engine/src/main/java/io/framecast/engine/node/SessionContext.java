package io.framecast.engine.node;

import io.framecast.engine.metrics.CounterTable;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/// The node's services and settings that sessions use.
///
/// @param seed of back-off, skew and injected loss
/// @param lossProbability injected loss, 0 ≤ p < 1
/// @param notices one-line notices for an operator
/// @param epochOffsetNs difference between the engine's time and nanoseconds since the epoch
/// @param counters the node's counters
public record SessionContext(
        long seed, double lossProbability, Consumer<String> notices, long epochOffsetNs, CounterTable counters) {
    RandomGenerator random() {
        return new SplittableRandom(seed);
    }
}
