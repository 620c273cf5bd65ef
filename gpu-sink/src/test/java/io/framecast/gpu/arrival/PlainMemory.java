package io.framecast.gpu.arrival;

import io.framecast.api.spi.KernelSource;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// An arrival area with room for frames behind it, in ordinary memory under its ordinary address.
final class PlainMemory implements KernelSource.DeviceMemory, AutoCloseable {
    private static final int ALIGNMENT_BYTES = 4096;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment all;
    private final long areaBytes;
    private final long framesAt;

    PlainMemory(final int entries, final long frameBytes) {
        areaBytes = ArrivalLayout.areaBytes(entries);
        framesAt = (areaBytes + ALIGNMENT_BYTES - 1) / ALIGNMENT_BYTES * ALIGNMENT_BYTES;
        all = arena.allocate(framesAt + frameBytes, ALIGNMENT_BYTES);
    }

    MemorySegment area() {
        return all.asSlice(0, areaBytes);
    }

    MemorySegment frames() {
        return all.asSlice(framesAt);
    }

    @Override
    public MemorySegment at(final long deviceAddress, final long bytes) {
        return all.asSlice(deviceAddress - all.address(), bytes);
    }

    @Override
    public void close() {
        arena.close();
    }
}
