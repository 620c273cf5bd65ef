package io.framecast.gpu.cuda;

import io.framecast.api.error.DeviceException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// Bounds the wait of a device that is closed for the work on its streams. CUDA cannot end a kernel, and
/// destroying a stream waits for its work without bound.
final class BoundedSync {
    private static final long LONGEST_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private BoundedSync() {}

    /// Waits for all of them; in their context.
    ///
    /// @throws DeviceException when one does not end: nothing of the device may be freed
    static void require(final String device, final List<CudaStream> streams) {
        final long startNs = System.nanoTime();
        for (final CudaStream stream : streams) {
            while (stream.isBusy()) {
                if (System.nanoTime() - startNs > LONGEST_NS) {
                    throw new DeviceException(device + ": a kernel still runs "
                            + TimeUnit.NANOSECONDS.toSeconds(LONGEST_NS)
                            + " s after the device was closed: its memory and streams stay until this process ends;"
                            + " close what was launched first, and look at the kernel");
                }
                LockSupport.parkNanos(PAUSE_NS);
            }
        }
    }
}
