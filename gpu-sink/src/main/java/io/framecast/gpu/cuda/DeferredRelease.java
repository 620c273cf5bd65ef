package io.framecast.gpu.cuda;

import java.util.List;
import jcuda.driver.CUmodule;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;

/// Releases the memory, the code and the context of a closed backend. Freeing memory and code waits for the
/// whole GPU, so the backend runs this once no persistent kernel runs.
///
/// @param failure takes the first failure; nobody asks it where the release runs later
record DeferredRelease(
        CudaContext context,
        List<CudaHandles.DevicePointer> pointers,
        List<Long> pinned,
        List<CUmodule> modules,
        FirstFailure failure)
        implements Runnable {
    @Override
    public void run() {
        final int code = context.enter();
        failure.note("cuCtxPushCurrent", code);
        // Handles of a context that was destroyed name nothing: a driver may crash on them.
        if (code == CUresult.CUDA_SUCCESS) {
            modules.forEach(module -> failure.note("cuModuleUnload", JCudaDriver.cuModuleUnload(module)));
            pointers.forEach(pointer -> failure.note("cuMemFree", JCudaDriver.cuMemFree(pointer)));
            pinned.forEach(address -> failure.note("cuMemFreeHost", CudaCalls.memFreeHost(address)));
            context.leave();
        }
        failure.note("cuDevicePrimaryCtxRelease", context.release());
    }
}
