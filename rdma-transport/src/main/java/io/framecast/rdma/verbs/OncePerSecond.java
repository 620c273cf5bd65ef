package io.framecast.rdma.verbs;

/// Paces the calls that capture errno: the linker allocates for the capture of a call until the compiler has inlined
/// it. An empty descriptor is asked without, and once a second with it, so that a descriptor that fails is found.
///
/// Threading: one thread at a time.
final class OncePerSecond {
    private static final long PERIOD_NS = 1_000_000_000;

    private long dueNs = System.nanoTime();

    /// @return whether a second has passed since this returned true; true at first
    boolean isDue() {
        final long nowNs = System.nanoTime();
        if (nowNs - dueNs < 0) {
            return false;
        }
        dueNs = nowNs + PERIOD_NS;
        return true;
    }
}
