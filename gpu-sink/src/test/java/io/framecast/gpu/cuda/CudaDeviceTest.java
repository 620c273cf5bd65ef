package io.framecast.gpu.cuda;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceBackendContract;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.KernelSource;
import io.framecast.gpu.ContractPtx;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// The contract on a real GPU.
@Tag("gpu")
class CudaDeviceTest extends DeviceBackendContract {
    private static final int DMA_BUF_SUPPORTED = 124;

    @BeforeAll
    static void needsGpu() {
        final String missing = new CudaProvider().unavailable().orElse("");
        if (!missing.isEmpty()) {
            System.err.println("CudaDeviceTest skipped: " + missing);
        }
        Assumptions.assumeTrue(missing.isEmpty(), missing);
    }

    @Override
    protected DeviceBackend open() {
        return new CudaProvider().open(0);
    }

    /// Exports memory of a usual length to a NIC, where the device supports it.
    @Test
    void shouldExportTwoMebibytesWhereTheDeviceSaysSo() {
        try (DeviceBackend device = open()) {
            Assumptions.assumeTrue(
                    ((CudaBackend) device).properties().optionalAttribute(DMA_BUF_SUPPORTED) == 1,
                    "the GPU exports no dma-buf");
            final DeviceRegion region = device.allocate(2 << 20);
            final DeviceRegion exported = device.access().export(region);
            assertTrue(
                    Files.exists(Path.of("/proc/self/fd/" + exported.dmaBufDescriptor())),
                    "descriptor " + exported.dmaBufDescriptor());
            device.access().unexport(exported);
        }
    }

    @Override
    protected KernelSource addKernel() {
        return ContractPtx.withPtx(super.addKernel());
    }
}
