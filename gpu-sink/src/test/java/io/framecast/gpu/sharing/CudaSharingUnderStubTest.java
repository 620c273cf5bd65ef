package io.framecast.gpu.sharing;

import io.framecast.gpu.cuda.StubLibrary;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/// CUDA's calls on a stub of its library, whose device memory is memory files: proves how the driver is called.
class CudaSharingUnderStubTest extends DeviceSharingContract {
    @TempDir
    static Path folder;

    @BeforeAll
    static void build() throws IOException, InterruptedException {
        Assumptions.assumeTrue(StubLibrary.isPossible(), "the stub libcuda needs gcc, and Linux on x86-64");
        new StubLibrary(folder).build(true);
    }

    @Override
    List<String> device() {
        return List.of("cuda", "0");
    }

    @Override
    Map<String, String> environment() {
        return Map.of("LD_LIBRARY_PATH", folder.toString());
    }
}
