package io.framecast.gpu.cuda;

import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceEvent;
import jcuda.driver.CUevent_flags;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;

/// A CUevent without timing. [#synchronize] sleeps rather than spins: the threads that wait share cores with
/// threads that receive.
final class CudaEvent implements DeviceEvent {
    private static final int FLAGS = CUevent_flags.CU_EVENT_DISABLE_TIMING | CUevent_flags.CU_EVENT_BLOCKING_SYNC;

    private final CudaBackend backend;
    private final CudaHandles.Event handle = new CudaHandles.Event();
    private volatile boolean closed;

    CudaEvent(final CudaBackend backend) {
        this.backend = backend;
        CudaErrors.check("cuEventCreate", JCudaDriver.cuEventCreate(handle, FLAGS));
    }

    CudaBackend backend() {
        return backend;
    }

    /// The CUevent.
    ///
    /// @throws DeviceException when the event is closed
    long value() {
        if (closed) {
            throw new DeviceException(backend.name() + ": the event is closed; open another");
        }
        return handle.value();
    }

    @Override
    public boolean isComplete() {
        try (CudaContext.Visit _ = backend.visit()) {
            final int code = CudaCalls.EVENT_QUERY.call(value());
            if (code == CUresult.CUDA_ERROR_NOT_READY) {
                return false;
            }
            CudaErrors.check("cuEventQuery", code);
            return true;
        }
    }

    @Override
    public void synchronize() {
        try (CudaContext.Visit _ = backend.visit()) {
            CudaCalls.EVENT_SYNCHRONIZE.check(value());
        }
    }

    /// Idempotent. The driver keeps a recorded event until its work is done.
    @Override
    public void close() {
        if (backend.forget(this)) {
            closed = true;
            try (CudaContext.Visit _ = backend.visit()) {
                CudaErrors.check("cuEventDestroy", destroy());
            }
        }
    }

    /// Whether the work before it is done, or will never be: the device is lost. Also of a backend that is
    /// being closed.
    boolean isOver() {
        final CudaContext context = backend.context();
        if (context.enter() != CUresult.CUDA_SUCCESS) {
            return true;
        }
        try {
            return CudaCalls.EVENT_QUERY.call(handle.value()) != CUresult.CUDA_ERROR_NOT_READY;
        } finally {
            context.leave();
        }
    }

    /// As [#close], also of a backend that is being closed; says nothing.
    void discard() {
        if (backend.forget(this) && backend.context().enter() == CUresult.CUDA_SUCCESS) {
            destroy();
            backend.context().leave();
        }
    }

    /// Destroys the event for the backend, which has forgotten it; in the context.
    int destroy() {
        closed = true;
        return JCudaDriver.cuEventDestroy(handle);
    }
}
