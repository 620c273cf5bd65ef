package io.framecast.gpu.arrival;

import io.framecast.api.spi.KernelSource;
import io.framecast.gpu.SharedWords;
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

    /// A ring that begins at a position, as if laps had gone before: sequences wrap on the way where it is negative.
    ArrivalRing ringAt(final int entries, final int position) {
        final MemorySegment area = area();
        for (int before = position - entries; before != position; before++) {
            final int slot = before & (entries - 1);
            SharedWords.longAt(area, ArrivalLayout.entryOffset(slot), ArrivalLayout.word0(before + 1, slot, 0));
            SharedWords.intAt(area, ArrivalLayout.returnOffset(entries, slot), before + 1);
        }
        return new ArrivalRing(area, entries, position);
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
