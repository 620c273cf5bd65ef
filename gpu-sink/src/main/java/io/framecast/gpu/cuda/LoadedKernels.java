package io.framecast.gpu.cuda;

import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.KernelSource;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/// The kernels that a backend has loaded, for whoever wants one again. CUDA's guide on lazy loading: "Loading
/// kernels might require context synchronization", which behind a persistent kernel never comes; so they are to
/// be loaded before. Any thread.
final class LoadedKernels {
    private final List<Loaded> all = new CopyOnWriteArrayList<>();

    private record Loaded(byte[] ptx, CudaKernel kernel) {}

    /// @return the kernel of the same name and code, or null
    @Nullable
    CudaKernel find(final KernelSource source, final byte[] ptx) {
        for (final Loaded loaded : all) {
            final CudaKernel kernel = loaded.kernel;
            if (kernel.name().equals(source.name())
                    && kernel.persistent() == source.persistent()
                    && Arrays.equals(loaded.ptx, ptx)) {
                return kernel;
            }
        }
        return null;
    }

    CudaKernel add(final byte[] ptx, final CudaKernel kernel) {
        all.add(new Loaded(ptx, kernel));
        return kernel;
    }

    /// @throws DeviceException while a persistent kernel of the GPU runs
    void requireQuiet(final String device, final KernelSource source, final PersistentLaunches kernels) {
        if (kernels.any()) {
            throw new DeviceException(device + ": kernel " + source.name() + " cannot be loaded while a persistent"
                    + " kernel runs: loading may wait for its end; load it before that one is launched");
        }
    }
}
