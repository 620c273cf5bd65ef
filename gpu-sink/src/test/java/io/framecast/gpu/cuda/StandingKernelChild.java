package io.framecast.gpu.cuda;

import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceKernel;
import io.framecast.api.spi.DeviceStream;
import io.framecast.api.spi.KernelSource;
import io.framecast.gpu.ContractPtx;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;

/// Loads beside a kernel that stands still, closes the device, and says what came of it. Runs over the stub
/// libcuda.
final class StandingKernelChild {
    private StandingKernelChild() {}

    public static void main(final String[] words) {
        final DeviceBackend device = new CudaProvider().open(0);
        final MemorySegment runs = device.allocatePinned(Long.BYTES);
        final DeviceStream stream = device.openStream();
        final KernelSource source =
                KernelSource.persistent(CallsBesideKernel.KERNEL, CallsBesideKernel::ptx, (_, _, _, _) -> {});
        final DeviceKernel kernel = device.load(source);
        stream.launch(kernel, 1, 1, TimeUnit.HOURS.toNanos(1), runs.address());
        System.out.println(kernel.equals(device.load(source)) ? "known" : "loaded again");
        try {
            device.load(new KernelSource(
                    "contract_add", () -> ContractPtx.resource("contract_add.ptx"), (_, _, _, _) -> {}));
            System.out.println("loaded");
        } catch (final DeviceException e) {
            System.out.println(e.getMessage());
        }
        try {
            device.close();
            System.out.println("closed");
        } catch (final DeviceException e) {
            // Nothing that the kernel may touch was freed.
            runs.fill((byte) 0);
            System.out.println(e.getMessage());
        }
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }
}
