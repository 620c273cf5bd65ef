package io.framecast.rdma;

import static org.junit.jupiter.api.Assertions.fail;

import java.util.function.BooleanSupplier;

/// Looks until something is so; generous, for machines that others use too.
final class Wait {
    private static final long PATIENCE_NS = 20_000_000_000L;

    private Wait() {}

    static void until(final String what, final BooleanSupplier isSo) {
        final long startNs = System.nanoTime();
        while (!isSo.getAsBoolean()) {
            if (System.nanoTime() - startNs > PATIENCE_NS) {
                fail("waited in vain for " + what);
            }
            Thread.onSpinWait();
        }
    }
}
