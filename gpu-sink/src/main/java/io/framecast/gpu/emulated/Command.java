package io.framecast.gpu.emulated;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// One slot of a stream's ring, filled by the enqueuer and read by the DMA thread; reused, so that a copy
/// allocates nothing.
final class Command {
    enum Kind {
        TO_DEVICE,
        TO_HOST,
        WITHIN,
        FILL,
        AWAIT,
        LAUNCH
    }

    Kind kind = Kind.FILL;

    // The ends of a copy; a fill has a target only.
    MemorySegment source = MemorySegment.NULL;
    MemorySegment target = MemorySegment.NULL;
    long targetOffset;
    long sourceOffset;
    long bytes;
    byte value;

    // The mark that AWAIT waits for, as EmulatedEvent packs it.
    long mark;

    @Nullable
    EmulatedKernel kernel;

    int gridBlocks;
    int blockThreads;
    long[] arguments = NO_ARGUMENTS;

    // A persistent kernel that was started; the DMA thread's.
    @Nullable
    KernelThread running;

    // How far the DMA thread got; its own field.
    long bytesDone;

    static final long[] NO_ARGUMENTS = {};

    /// Drops references, so that a quiet stream keeps no memory alive.
    void clear() {
        source = MemorySegment.NULL;
        target = MemorySegment.NULL;
        kernel = null;
        running = null;
        arguments = NO_ARGUMENTS;
        bytesDone = 0;
    }
}
