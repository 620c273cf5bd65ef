package io.framecast.gpu.emulated;

import io.framecast.api.spi.DeviceMapping;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceResources;
import io.framecast.gpu.device.AllocationTable.Allocation;
import io.framecast.gpu.device.HostBounds;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/// An emulated device's memory as the CPU stores into it and reads it. Where the link is modelled, or the rate of
/// reads,
/// they take that time: the thread that stores or reads waits for them.
final class EmulatedMapping implements DeviceMapping {
    private static final double NS_PER_SECOND = 1e9;

    private final EmulatedDevice device;
    private final Allocation allocation;
    private final long base;
    private final long bytes;
    private volatile boolean closed;

    EmulatedMapping(final EmulatedDevice device, final Allocation allocation, final DeviceRegion region) {
        this.device = device;
        this.allocation = allocation;
        base = region.address() - allocation.address();
        bytes = region.bytes();
    }

    @Override
    public void write(final long offset, final MemorySegment source, final long sourceOffset, final long length) {
        check(offset, length);
        HostBounds.check(device.name(), source, sourceOffset, length);
        final long startNs = System.nanoTime();
        MemorySegment.copy(source, sourceOffset, allocation.backing(), base + offset, length);
        // Kernels run on another thread.
        VarHandle.releaseFence();
        pass(startNs, length, device.config().link().toDeviceBytesPerSecond());
    }

    @Override
    public void read(final long offset, final MemorySegment target, final long targetOffset, final long length) {
        check(offset, length);
        HostBounds.check(device.name(), target, targetOffset, length);
        final long startNs = System.nanoTime();
        VarHandle.acquireFence();
        MemorySegment.copy(allocation.backing(), base + offset, target, targetOffset, length);
        final EmulatedConfig config = device.config();
        pass(startNs, length, Math.min(config.link().toHostBytesPerSecond(), config.mappedReadsPerSecond()));
    }

    private void check(final long offset, final long length) {
        device.checkUsable();
        HostBounds.checkMapped(device.name(), closed, bytes, offset, length);
    }

    private static void pass(final long startNs, final long length, final long bytesPerSecond) {
        if (bytesPerSecond != EmulatedConfig.UNLIMITED) {
            final long untilNs = startNs + (long) (length * NS_PER_SECOND / bytesPerSecond);
            while (System.nanoTime() - untilNs < 0) {
                Thread.onSpinWait();
            }
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            device.resources().give(DeviceResources.Kind.MAPPINGS, 1);
        }
    }
}
