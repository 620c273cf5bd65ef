package io.framecast.gpu.cuda;

import io.framecast.api.error.DeviceException;
import jcuda.driver.CUresult;

/// CUresult codes as one line: the call, the code and how to fix it.
final class CudaErrors {
    // By their numbers in cuda.h: JCuda 12.6 does not know the first, which came with CUDA 12.8 and stays.
    private static final int CONTAINED = 226;
    private static final int JIT_COMPILER_NOT_FOUND = 221;
    private static final int SYSTEM_NOT_READY = 802;
    private static final int SYSTEM_DRIVER_MISMATCH = 803;

    private CudaErrors() {}

    /// @param call the driver's function, as in its manual
    static void check(final String call, final int code) {
        if (code != CUresult.CUDA_SUCCESS) {
            throw failure(call, code);
        }
    }

    static DeviceException failure(final String call, final int code) {
        return new DeviceException(call + ": " + name(code) + ", " + fix(code));
    }

    static String name(final int code) {
        return (code == CONTAINED ? "CUDA_ERROR_CONTAINED" : CUresult.stringFor(code)) + " (" + code + ")";
    }

    /// Whether no call will succeed any more: the context is gone, or broken for the whole process.
    static boolean isLost(final int code) {
        return switch (code) {
            case CUresult.CUDA_ERROR_DEINITIALIZED,
                    CUresult.CUDA_ERROR_DEVICE_UNAVAILABLE,
                    CUresult.CUDA_ERROR_INVALID_CONTEXT,
                    CUresult.CUDA_ERROR_ECC_UNCORRECTABLE,
                    CUresult.CUDA_ERROR_NVLINK_UNCORRECTABLE,
                    CUresult.CUDA_ERROR_ILLEGAL_ADDRESS,
                    CUresult.CUDA_ERROR_LAUNCH_TIMEOUT,
                    CUresult.CUDA_ERROR_CONTEXT_IS_DESTROYED,
                    CUresult.CUDA_ERROR_ASSERT,
                    CUresult.CUDA_ERROR_HARDWARE_STACK_ERROR,
                    CUresult.CUDA_ERROR_ILLEGAL_INSTRUCTION,
                    CUresult.CUDA_ERROR_MISALIGNED_ADDRESS,
                    CUresult.CUDA_ERROR_INVALID_ADDRESS_SPACE,
                    CUresult.CUDA_ERROR_INVALID_PC,
                    CUresult.CUDA_ERROR_LAUNCH_FAILED,
                    CONTAINED,
                    CUresult.CUDA_ERROR_UNKNOWN -> true;
            default -> false;
        };
    }

    static String fix(final int code) {
        return switch (code) {
            case CUresult.CUDA_ERROR_INVALID_VALUE -> "check address and length: they leave the device's memory";
            case CUresult.CUDA_ERROR_OUT_OF_MEMORY -> "lower window or frame-max, or end other users of the GPU";
            case CUresult.CUDA_ERROR_NO_DEVICE -> "make a GPU visible (CUDA_VISIBLE_DEVICES) or use device=emulated";
            case CUresult.CUDA_ERROR_INVALID_DEVICE -> "use an ordinal that nvidia-smi -L lists";
            case CUresult.CUDA_ERROR_DEVICE_UNAVAILABLE -> "another process holds the GPU: end it or use another GPU";
            case CUresult.CUDA_ERROR_INVALID_CONTEXT, CUresult.CUDA_ERROR_CONTEXT_IS_DESTROYED ->
                "the device's context is gone: open the device again and do not reset it";
            case CUresult.CUDA_ERROR_NO_BINARY_FOR_GPU, CUresult.CUDA_ERROR_INVALID_PTX ->
                "build the kernel's PTX for this GPU";
            case CUresult.CUDA_ERROR_UNSUPPORTED_PTX_VERSION ->
                "the driver is older than the PTX: update it or lower the PTX's .version";
            case CUresult.CUDA_ERROR_ECC_UNCORRECTABLE,
                    CUresult.CUDA_ERROR_NVLINK_UNCORRECTABLE,
                    CUresult.CUDA_ERROR_HARDWARE_STACK_ERROR,
                    CONTAINED,
                    CUresult.CUDA_ERROR_UNKNOWN ->
                "the GPU is lost to this process: look at nvidia-smi and dmesg for an Xid, then start again";
            case CUresult.CUDA_ERROR_NOT_FOUND -> "check the kernel's name: the PTX has no such entry";
            case CUresult.CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED -> "register host memory once per process";
            case CUresult.CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED -> "unregister only registered memory";
            case CUresult.CUDA_ERROR_ILLEGAL_ADDRESS, CUresult.CUDA_ERROR_LAUNCH_FAILED ->
                "a kernel left its memory: fix it and start the process again";
            case JIT_COMPILER_NOT_FOUND ->
                "libnvidia-ptxjitcompiler.so.1 is not beside libcuda.so.1: install the whole driver, and give"
                        + " containers all of it (NVIDIA_DRIVER_CAPABILITIES=compute,utility)";
            case SYSTEM_NOT_READY ->
                "the driver's services do not run yet: look at nvidia-smi; GPUs with NVSwitch need"
                        + " nvidia-fabricmanager";
            case SYSTEM_DRIVER_MISMATCH ->
                "libcuda and the kernel's module are of different drivers: install one, and restart the machine";
            case CUresult.CUDA_ERROR_NOT_SUPPORTED -> "this GPU or driver cannot do it: use another placement";
            default -> "look the code up in the CUDA driver API's manual";
        };
    }
}
