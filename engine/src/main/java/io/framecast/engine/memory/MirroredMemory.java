package io.framecast.engine.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Temporary.
public final class MirroredMemory implements AutoCloseable {
    private final Arena arena = Arena.ofShared();
    private final MemorySegment segment;

    private MirroredMemory(final long bytes) {
        segment = arena.allocate(bytes, 4096);
    }

    public static MirroredMemory allocate(final long bytes, final long spare) {
        return new MirroredMemory(bytes + spare);
    }

    public static MirroredMemory allocate(final long bytes) {
        return new MirroredMemory(bytes);
    }

    public boolean mirrored() {
        return false;
    }

    public MemorySegment segment() {
        return segment;
    }

    @Override
    public void close() {
        arena.close();
    }
}
