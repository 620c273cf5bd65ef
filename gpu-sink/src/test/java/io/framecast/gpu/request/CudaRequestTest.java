package io.framecast.gpu.request;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.gpu.cuda.CudaProvider;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/// The contract on a real GPU.
@Tag("gpu")
class CudaRequestTest extends RequestContract {
    @BeforeAll
    static void needsGpu() {
        final String missing = new CudaProvider().unavailable().orElse("");
        if (!missing.isEmpty()) {
            System.err.println("CudaRequestTest skipped: " + missing);
        }
        Assumptions.assumeTrue(missing.isEmpty(), missing);
    }

    @Override
    protected DeviceBackend open() {
        return new CudaProvider().open(0);
    }
}
