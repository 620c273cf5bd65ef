package io.framecast.gpu.device;

import io.framecast.api.error.DeviceException;
import java.lang.foreign.MemorySegment;

/// Checks that every backend makes before it hands work to a device.
public final class HostBounds {
    // Limits of every NVIDIA GPU since compute capability 3.0.
    private static final int BLOCK_THREADS_MAX = 1024;

    private HostBounds() {}

    /// Checks the host's end of a copy: off-heap, alive and long enough.
    ///
    /// @throws IndexOutOfBoundsException when the range leaves the segment
    /// @throws DeviceException when no device could reach the memory
    public static void check(final String device, final MemorySegment segment, final long offset, final long bytes) {
        if (offset < 0 || bytes < 0 || bytes > segment.byteSize() - offset) {
            throw new IndexOutOfBoundsException(device + ": " + bytes + " bytes at " + offset + " of host memory of "
                    + segment.byteSize() + " bytes");
        }
        if (!segment.isNative()) {
            throw new DeviceException(device + ": host memory is on the Java heap; allocate it in an Arena");
        }
        if (!segment.scope().isAlive()) {
            throw new DeviceException(device + ": host memory is freed already; keep its arena open until copies end");
        }
    }

    /// Checks a range of a mapping.
    ///
    /// @throws IndexOutOfBoundsException when the range leaves the mapping
    public static void checkMapped(
            final String device, final boolean closed, final long mappedBytes, final long offset, final long bytes) {
        if (closed) {
            throw new DeviceException(device + ": the mapping is closed; map the memory again");
        }
        if (offset < 0 || bytes < 0 || offset > mappedBytes - bytes) {
            throw new IndexOutOfBoundsException(
                    device + ": " + bytes + " bytes at " + offset + " of a mapping of " + mappedBytes);
        }
    }

    public static void checkGrid(final String kernel, final int gridBlocks, final int blockThreads) {
        if (gridBlocks < 1 || blockThreads < 1 || blockThreads > BLOCK_THREADS_MAX) {
            throw new DeviceException("kernel " + kernel + ": expected blocks >= 1 and threads 1.." + BLOCK_THREADS_MAX
                    + ", got " + gridBlocks + " and " + blockThreads);
        }
    }
}
