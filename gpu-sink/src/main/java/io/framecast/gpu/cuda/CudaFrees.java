package io.framecast.gpu.cuda;

import io.framecast.api.provider.ScopedLock;
import io.framecast.gpu.device.DeferredFrees;

/// How a backend gives memory back, or out again, beside persistent kernels of its GPU. To ask whether one runs
/// and to free is one step: none begins in between. Any thread.
final class CudaFrees {
    private final CudaBackend backend;
    private final PersistentLaunches kernels;
    private final DeferredFrees device = new DeferredFrees();
    private final DeferredFrees pinned = new DeferredFrees();

    CudaFrees(final CudaBackend backend, final PersistentLaunches kernels) {
        this.backend = backend;
        this.kernels = kernels;
    }

    /// Device memory that waits.
    DeferredFrees device() {
        return device;
    }

    /// Pinned memory that waits.
    DeferredFrees pinned() {
        return pinned;
    }

    /// Frees waiting memory, before an allocation; beside a persistent kernel looks for a waiting block of that
    /// length.
    ///
    /// @return its address, or [DeferredFrees#NONE]
    long flush(final DeferredFrees frees, final long bytes) {
        try (ScopedLock.Scope _ = kernels.lock().hold()) {
            kernels.flush();
            backend.requireOpen();
            final boolean running = kernels.any();
            device.flush(running);
            pinned.flush(running);
            return running ? frees.take(bytes) : DeferredFrees.NONE;
        }
    }

    /// Frees now, or later.
    ///
    /// @param now frees it
    void free(final DeferredFrees frees, final long address, final long bytes, final Runnable now) {
        try (ScopedLock.Scope _ = kernels.lock().hold()) {
            kernels.flush();
            backend.requireOpen();
            final boolean running = kernels.any();
            final StreamFences marks = new StreamFences();
            if (running) {
                backend.streams().mark(marks, backend::openEvent);
            }
            final var block = new DeferredFrees.Block(address, bytes, marks, () -> {
                marks.close();
                now.run();
            });
            try {
                frees.free(running, block);
            } catch (final IllegalArgumentException e) {
                marks.close();
                throw e;
            }
        }
    }

    /// The backend is closed, and its memory goes with it.
    void clear() {
        device.clear();
        pinned.clear();
    }
}
