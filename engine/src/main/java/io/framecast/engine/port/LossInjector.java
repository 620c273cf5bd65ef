package io.framecast.engine.port;

import java.util.SplittableRandom;

/// Drops received datagrams with a fixed probability, for tests and demonstrations. One thread.
public final class LossInjector {
    private final SplittableRandom random;
    private final double probability;

    /// Makes an injector.
    ///
    /// @param probability 0 ≤ p < 1; 0 drops nothing and costs nothing
    public LossInjector(final double probability, final long seed) {
        this.probability = probability;
        random = new SplittableRandom(seed);
    }

    /// Whether anything may be dropped.
    public boolean isActive() {
        return probability > 0;
    }

    /// Whether this datagram is lost.
    public boolean drop() {
        return isActive() && random.nextDouble() < probability;
    }
}
