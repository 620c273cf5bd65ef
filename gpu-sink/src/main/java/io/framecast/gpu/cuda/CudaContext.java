package io.framecast.gpu.cuda;

import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.EngineThread;
import jcuda.driver.CUdevice;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;

/// A GPU's primary context as one backend retains it, and how threads come into it and out again.
///
/// A thread that calls is its user's: the context that is current there, another library's or none, is current
/// again behind the call. So each call pushes this one and pops it, two looks into the thread's own stack of
/// contexts. A remembered context for each thread would be wrong as soon as the user changes it. A context left
/// where there was none would send a CUDA runtime that the user starts later to this GPU. On an
/// [EngineThread] it is set and left so: one call.
final class CudaContext {
    private final CUdevice device;
    private final CudaHandles.Context handle = new CudaHandles.Context();
    private final Visit visit = new Visit();

    /// Ends a call; always the same object, so that a call allocates nothing.
    final class Visit implements AutoCloseable {
        private Visit() {}

        @Override
        public void close() {
            leave();
        }
    }

    /// Retains the context.
    CudaContext(final CUdevice device) {
        this.device = device;
        CudaErrors.check("cuDevicePrimaryCtxRetain", JCudaDriver.cuDevicePrimaryCtxRetain(handle, device));
    }

    /// A call into this context begins on this thread.
    ///
    /// @throws DeviceException when it is gone
    Visit visit() {
        final int code = enter();
        if (code != CUresult.CUDA_SUCCESS) {
            throw failure(code);
        }
        return visit;
    }

    /// As [#visit], without an exception. Where the answer is not CUDA_SUCCESS nothing was entered.
    int enter() {
        return isEngines()
                ? CudaCalls.CTX_SET_CURRENT.call(handle.value())
                : CudaCalls.CTX_PUSH_CURRENT.call(handle.value());
    }

    /// Once for each [#enter] that succeeded.
    void leave() {
        if (!isEngines()) {
            // Of a context that was lost nothing more can be said than was said already.
            CudaCalls.ctxPopCurrent();
        }
    }

    /// The failure for a code that [#enter] returned.
    static DeviceException failure(final int code) {
        return CudaErrors.failure(isEngines() ? "cuCtxSetCurrent" : "cuCtxPushCurrent", code);
    }

    private static boolean isEngines() {
        return Thread.currentThread() instanceof EngineThread;
    }

    /// Gives up the hold on the context, which must not be entered any more.
    int release() {
        if (isEngines()) {
            // Nothing is left current that may be gone.
            CudaCalls.CTX_SET_CURRENT.call(0);
        }
        return JCudaDriver.cuDevicePrimaryCtxRelease(device);
    }
}
