package io.framecast.gpu.cuda;

import java.util.List;
import jcuda.driver.CUmodule;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;

/// What a closed backend leaves: memory and code whose freeing waits for the whole GPU, and its hold on the
/// context, without which nobody could free them.
///
/// @param failure takes what goes wrong; nobody asks it where they are freed later
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
