package io.framecast.gpu.cuda;

import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceKernel;
import io.framecast.api.spi.DeviceStream;
import io.framecast.gpu.device.HostBounds;
import io.framecast.gpu.device.ResidentGrid;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;

/// A non-blocking CUstream: it does not wait for the legacy default stream, which other libraries in the
/// process may use. Enqueuing allocates nothing.
final class CudaStream implements DeviceStream {
    static final int ARGUMENTS_MAX = 32;

    private final CudaBackend backend;
    private final CudaHandles.Stream handle = new CudaHandles.Stream();
    private final Arena arena = Arena.ofShared();

    // [ARGUMENTS_MAX] values, then [ARGUMENTS_MAX] pointers to them. Every pointer is always valid: the driver
    // reads as many as the kernel declares, however many were passed.
    private final MemorySegment arguments;
    private final long parameters;
    private volatile boolean closed;

    CudaStream(final CudaBackend backend) {
        this.backend = backend;
        arguments = arena.allocate(ValueLayout.JAVA_LONG, 2 * ARGUMENTS_MAX);
        parameters = arguments.address() + (long) ARGUMENTS_MAX * Long.BYTES;
        for (int i = 0; i < ARGUMENTS_MAX; i++) {
            final long pointer = arguments.address() + (long) i * Long.BYTES;
            arguments.setAtIndex(ValueLayout.JAVA_LONG, ARGUMENTS_MAX + i, pointer);
        }
        final int code = JCudaDriver.cuStreamCreate(handle, CUstream_flags.CU_STREAM_NON_BLOCKING);
        if (code != CUresult.CUDA_SUCCESS) {
            arena.close();
            throw CudaErrors.failure("cuStreamCreate", code);
        }
    }

    @Override
    public void copyToDevice(
            final long deviceAddress, final MemorySegment source, final long sourceOffset, final long bytes) {
        HostBounds.check(backend.name(), source, sourceOffset, bytes);
        backend.checkRange("cuMemcpyHtoDAsync", deviceAddress, bytes);
        try (CudaContext.Visit _ = visit()) {
            if (bytes > 0) {
                CudaCalls.COPY_TO_DEVICE.check(deviceAddress, source.address() + sourceOffset, bytes, handle.value());
            }
        }
    }

    @Override
    public void copyToHost(
            final MemorySegment target, final long targetOffset, final long deviceAddress, final long bytes) {
        HostBounds.check(backend.name(), target, targetOffset, bytes);
        if (target.isReadOnly()) {
            throw new DeviceException(backend.name() + ": copyToHost into read-only memory; pass a writable segment");
        }
        backend.checkRange("cuMemcpyDtoHAsync", deviceAddress, bytes);
        try (CudaContext.Visit _ = visit()) {
            if (bytes > 0) {
                CudaCalls.COPY_TO_HOST.check(target.address() + targetOffset, deviceAddress, bytes, handle.value());
            }
        }
    }

    @Override
    public void copyWithin(final long targetAddress, final long sourceAddress, final long bytes) {
        backend.checkRange("cuMemcpyDtoDAsync", targetAddress, bytes);
        backend.checkRange("cuMemcpyDtoDAsync", sourceAddress, bytes);
        try (CudaContext.Visit _ = visit()) {
            if (bytes > 0) {
                CudaCalls.COPY_WITHIN.check(targetAddress, sourceAddress, bytes, handle.value());
            }
        }
    }

    @Override
    public void fill(final long deviceAddress, final byte value, final long bytes) {
        backend.checkRange("cuMemsetD8Async", deviceAddress, bytes);
        try (CudaContext.Visit _ = visit()) {
            if (bytes > 0) {
                CudaErrors.check("cuMemsetD8Async", CudaCalls.fill(deviceAddress, value, bytes, handle.value()));
            }
        }
    }

    @Override
    public void record(final DeviceEvent event) {
        final long ours = ours(event);
        try (CudaContext.Visit _ = visit()) {
            CudaCalls.EVENT_RECORD.check(ours, handle.value());
        }
    }

    @Override
    public void await(final DeviceEvent event) {
        final long ours = ours(event);
        try (CudaContext.Visit _ = visit()) {
            CudaErrors.check("cuStreamWaitEvent", CudaCalls.streamWaitEvent(handle.value(), ours));
        }
    }

    @Override
    public void launch(final DeviceKernel kernel, final int gridBlocks, final int blockThreads, final long... values) {
        if (!(kernel instanceof CudaKernel own) || own.backend() != backend) {
            throw new DeviceException(backend.name() + ": kernel of another device; load it on this one");
        }
        HostBounds.checkGrid(kernel.name(), gridBlocks, blockThreads);
        if (values.length > ARGUMENTS_MAX) {
            throw new DeviceException("kernel " + kernel.name() + ": expected at most " + ARGUMENTS_MAX
                    + " arguments, got " + values.length);
        }
        try (CudaContext.Visit _ = visit()) {
            MemorySegment.copy(values, 0, arguments, ValueLayout.JAVA_LONG, 0, values.length);
            if (own.persistent()) {
                final ResidentGrid grid = backend.grid(own, gridBlocks, blockThreads);
                backend.launchPersistent(this, grid, () -> launch(own.function(), gridBlocks, blockThreads));
            } else {
                launch(own.function(), gridBlocks, blockThreads);
            }
        }
    }

    private void launch(final long function, final int gridBlocks, final int blockThreads) {
        CudaErrors.check(
                "cuLaunchKernel",
                CudaCalls.launchKernel(function, gridBlocks, blockThreads, handle.value(), parameters));
    }

    @Override
    public void synchronize() {
        try (CudaContext.Visit _ = visit()) {
            CudaCalls.STREAM_SYNCHRONIZE.check(handle.value());
        }
    }

    @Override
    public void close() {
        backend.streams().retire(this);
    }

    /// Whether something that was enqueued has not ended; in the context.
    boolean isBusy() {
        return CudaCalls.STREAM_QUERY.call(handle.value()) == CUresult.CUDA_ERROR_NOT_READY;
    }

    /// Waits without checks, for the backend; in the context.
    int drain() {
        return CudaCalls.STREAM_SYNCHRONIZE.call(handle.value());
    }

    /// Waits for the work and destroys the stream, which is open no more; in the context.
    int destroy() {
        closed = true;
        final int drained = drain();
        final int destroyed = JCudaDriver.cuStreamDestroy(handle);
        arena.close();
        return drained == CUresult.CUDA_SUCCESS ? destroyed : drained;
    }

    /// Its context is gone, and the stream with it: gives back its memory in the host.
    void abandon() {
        closed = true;
        arena.close();
    }

    private CudaContext.Visit visit() {
        backend.requireOpen();
        if (closed) {
            throw new DeviceException(backend.name() + ": the stream is closed; open another");
        }
        return backend.visit();
    }

    private long ours(final DeviceEvent event) {
        if (event instanceof CudaEvent own && own.backend() == backend) {
            return own.value();
        }
        throw new DeviceException(backend.name() + ": event of another device; open it on this one");
    }
}
