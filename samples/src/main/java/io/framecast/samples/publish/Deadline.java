package io.framecast.samples.publish;

import io.framecast.samples.input.FrameInput;
import java.util.concurrent.locks.LockSupport;

/// Ends an input that waits (a silent pipe, a stalled camera) when the time of a run is over.
final class Deadline implements AutoCloseable {
    /// For a frame that is being read when the time ends.
    private static final long GRACE_NS = 1_000_000_000;

    private final Thread thread;
    private volatile boolean closed;

    /// @param endNs when no frame is to begin any more, as `System.nanoTime`
    Deadline(final FrameInput input, final long endNs) {
        thread = Thread.ofPlatform().daemon().name("deadline").start(() -> watch(input, endNs + GRACE_NS));
    }

    private void watch(final FrameInput input, final long cancelNs) {
        long leftNs = cancelNs - System.nanoTime();
        while (!closed && leftNs > 0) {
            LockSupport.parkNanos(this, leftNs);
            leftNs = cancelNs - System.nanoTime();
        }
        if (!closed) {
            input.cancel();
        }
    }

    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(thread);
    }
}
