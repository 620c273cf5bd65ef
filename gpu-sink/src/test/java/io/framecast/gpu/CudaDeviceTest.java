package io.framecast.gpu;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceBackendContract;
import io.framecast.api.spi.KernelSource;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/// The contract on a real GPU.
@Tag("gpu")
class CudaDeviceTest extends DeviceBackendContract {
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

    @Override
    protected KernelSource addKernel() {
        return ContractPtx.withPtx(super.addKernel());
    }
}
