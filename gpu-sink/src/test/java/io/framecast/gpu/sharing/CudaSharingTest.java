package io.framecast.gpu.sharing;

import io.framecast.api.provider.ProviderLookup;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/// The contract on a real GPU.
@Tag("gpu")
class CudaSharingTest extends DeviceSharingContract {
    @BeforeAll
    static void needsGpu() {
        final String missing = ProviderLookup.devices().stream()
                .filter(provider -> provider.kind().equals("cuda"))
                .findFirst()
                .flatMap(provider -> provider.unavailable())
                .orElse("");
        if (!missing.isEmpty()) {
            System.err.println("CudaSharingTest skipped: " + missing);
        }
        Assumptions.assumeTrue(missing.isEmpty(), missing);
    }

    @Override
    List<String> device() {
        return List.of("cuda", "0");
    }
}
