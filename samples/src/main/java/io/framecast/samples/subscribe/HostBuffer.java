package io.framecast.samples.subscribe;

import io.framecast.api.spi.DeviceBackend;
import java.lang.foreign.MemorySegment;

/// Pinned host memory that grows to the longest frame seen.
final class HostBuffer implements AutoCloseable {
    private final DeviceBackend device;
    private MemorySegment memory = MemorySegment.NULL;

    HostBuffer(final DeviceBackend device) {
        this.device = device;
    }

    /// The first `bytes` bytes; what they held before is lost.
    MemorySegment ofBytes(final long bytes) {
        if (memory.byteSize() < bytes) {
            close();
            memory = device.allocatePinned(bytes);
        }
        return memory.asSlice(0, bytes);
    }

    @Override
    public void close() {
        if (memory.byteSize() > 0) {
            device.freePinned(memory);
            memory = MemorySegment.NULL;
        }
    }
}
