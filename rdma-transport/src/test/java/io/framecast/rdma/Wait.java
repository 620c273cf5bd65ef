package io.framecast.rdma;

import static org.junit.jupiter.api.Assertions.fail;

import io.framecast.api.error.TransportException;
import java.util.function.BooleanSupplier;

/// Looks until something is so; generous, for machines that others use too.
final class Wait {
    private static final long PATIENCE_NS = 60_000_000_000L;

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

    /// Uses a lane until that throws.
    static TransportException untilEnded(final Runnable use) {
        final TransportException[] thrown = {null};
        until("the lane to end", () -> {
            try {
                use.run();
            } catch (final TransportException e) {
                thrown[0] = e;
            }
            return thrown[0] != null;
        });
        return thrown[0];
    }
}
