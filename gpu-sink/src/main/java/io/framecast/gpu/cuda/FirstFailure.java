package io.framecast.gpu.cuda;

import io.framecast.api.error.DeviceException;
import jcuda.driver.CUresult;
import org.jspecify.annotations.Nullable;

/// The first failure while a device is given back. The loss of a device was reported before, and counts as no
/// failure here.
final class FirstFailure {
    private @Nullable DeviceException first;

    void note(final String call, final int code) {
        if (code != CUresult.CUDA_SUCCESS && first == null && !CudaErrors.isLost(code)) {
            first = CudaErrors.failure(call, code);
        }
    }

    void rethrow() {
        if (first != null) {
            throw first;
        }
    }
}
