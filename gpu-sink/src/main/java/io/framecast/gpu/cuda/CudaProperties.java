package io.framecast.gpu.cuda;

import java.nio.charset.StandardCharsets;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdevice_attribute;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;

/// Properties of a GPU, which need no context.
final class CudaProperties {
    private final CUdevice device;
    private final String description;

    /// @throws io.framecast.api.error.DeviceException when the driver does not answer
    CudaProperties(final CUdevice device) {
        this.device = device;
        description = describe();
    }

    private String describe() {
        final byte[] model = new byte[256];
        CudaErrors.check("cuDeviceGetName", JCudaDriver.cuDeviceGetName(model, model.length, device));
        int length = 0;
        while (length < model.length && model[length] != 0) {
            length++;
        }
        final long[] bytes = new long[1];
        CudaErrors.check("cuDeviceTotalMem", JCudaDriver.cuDeviceTotalMem(bytes, device));
        final int[] version = new int[1];
        CudaErrors.check("cuDriverGetVersion", JCudaDriver.cuDriverGetVersion(version));
        return new String(model, 0, length, StandardCharsets.UTF_8) + ", " + (bytes[0] >> 20)
                + " MiB, compute capability "
                + attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) + "."
                + attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) + ", driver for CUDA "
                + version[0] / 1000 + "." + version[0] % 1000 / 10 + computeMode();
    }

    // Of a GPU that is not for any number of processes, as most are.
    private String computeMode() {
        return switch (attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_MODE)) {
            case 0 -> "";
            case 2 -> ", compute mode prohibited";
            case 3 -> ", compute mode exclusive to one process";
            default -> ", compute mode exclusive to one thread";
        };
    }

    /// Name, memory, compute capability, driver.
    String description() {
        return description;
    }

    /// Multiprocessors.
    int processors() {
        return attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    }

    private int attribute(final int which) {
        final int[] value = new int[1];
        CudaErrors.check("cuDeviceGetAttribute", JCudaDriver.cuDeviceGetAttribute(value, which, device));
        return value[0];
    }

    /// An attribute that older drivers do not know.
    ///
    /// @return 0 where it is not known
    int optionalAttribute(final int which) {
        final int[] value = new int[1];
        return JCudaDriver.cuDeviceGetAttribute(value, which, device) == CUresult.CUDA_SUCCESS ? value[0] : 0;
    }
}
