package io.framecast.gpu.cuda;

import io.framecast.api.error.DeviceException;
import io.framecast.api.provider.ScopedLock;
import io.framecast.api.spi.DeviceResources;
import io.framecast.api.spi.DeviceResources.Kind;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import jcuda.driver.CUresult;

/// The open streams of one backend. Queries, waits and destruction take one lock, so that no thread waits for a
/// destroyed stream; the lock is taken before any other lock of the backend. Any thread.
final class CudaStreams {
    private static final long CLOSE_MAX_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private final CudaContext context;
    private final PersistentLaunches kernels;
    private final DeviceResources resources;
    private final ScopedLock inUse = new ScopedLock();
    private final List<CudaStream> open = new CopyOnWriteArrayList<>();

    CudaStreams(final CudaContext context, final PersistentLaunches kernels, final DeviceResources resources) {
        this.context = context;
        this.kernels = kernels;
        this.resources = resources;
    }

    void add(final CudaStream stream) {
        open.add(stream);
        resources.take(Kind.STREAMS, 1);
    }

    /// Waits for the stream's work and destroys it, once.
    void retire(final CudaStream stream) {
        try (ScopedLock.Scope _ = inUse.hold()) {
            if (!open.remove(stream)) {
                return;
            }
            resources.give(Kind.STREAMS, 1);
            final int code = context.enter();
            if (code != CUresult.CUDA_SUCCESS) {
                stream.abandon();
                throw CudaContext.failure(code);
            }
            try {
                CudaErrors.check("cuStreamDestroy", stream.destroy());
            } finally {
                context.leave();
            }
        }
    }

    /// Waits for the work of all, 10 s at most; in the context. CUDA cannot end a kernel, and destroying a stream
    /// waits for its work without bound.
    ///
    /// @throws DeviceException when some work has not ended then: nothing of the device may be freed
    void awaitAll(final String device) {
        final long startNs = System.nanoTime();
        for (final CudaStream stream : open) {
            while (stream.isBusy()) {
                if (System.nanoTime() - startNs > CLOSE_MAX_NS) {
                    throw new DeviceException(device + ": a kernel still runs "
                            + TimeUnit.NANOSECONDS.toSeconds(CLOSE_MAX_NS)
                            + " s after the device was closed: its memory and streams stay until this process ends;"
                            + " close launched work before the device, and look at the kernel");
                }
                LockSupport.parkNanos(PAUSE_NS);
            }
        }
    }

    /// Waits for the work of all and destroys them; in the context.
    ///
    /// @param alive whether there is one: handles of a context that was destroyed name nothing, and a driver
    ///     may crash on them
    void close(final boolean alive, final FirstFailure failure) {
        try (ScopedLock.Scope _ = inUse.hold()) {
            for (final CudaStream stream : List.copyOf(open)) {
                if (!open.remove(stream)) {
                    continue;
                }
                if (alive) {
                    failure.note("cuStreamDestroy", stream.destroy());
                } else {
                    stream.abandon();
                }
            }
        }
    }

    /// Whether one has work that has not ended.
    boolean isBusy() {
        // The holder of the lock may wait for a stream.
        if (!inUse.tryLock()) {
            return true;
        }
        try {
            return !open.isEmpty() && context.enter() == CUresult.CUDA_SUCCESS && isAnyBusy();
        } finally {
            inUse.unlock();
        }
    }

    private boolean isAnyBusy() {
        try {
            for (final CudaStream stream : open) {
                if (stream.isBusy()) {
                    return true;
                }
            }
            return false;
        } finally {
            context.leave();
        }
    }

    /// Marks the work enqueued so far on streams without a persistent kernel.
    void mark(final StreamFences marks, final Supplier<CudaEvent> events) {
        // A thread that closes a stream may wait long, for a kernel on it.
        if (!inUse.tryLock()) {
            marks.giveUp();
            return;
        }
        try {
            for (final CudaStream stream : open) {
                if (!kernels.on(stream)) {
                    marks.add(stream, events.get());
                }
            }
        } catch (final DeviceException _) {
            marks.giveUp();
        } finally {
            inUse.unlock();
        }
    }

    /// Waits for the work of streams without a persistent kernel; in the context.
    void drain() {
        try (ScopedLock.Scope _ = inUse.hold()) {
            for (final CudaStream stream : open) {
                // A persistent kernel ends when its owner ends it; it uses only its arguments.
                if (!kernels.on(stream)) {
                    CudaErrors.check("cuStreamSynchronize", stream.drain());
                }
            }
        }
    }
}
