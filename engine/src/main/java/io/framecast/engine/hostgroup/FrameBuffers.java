package io.framecast.engine.hostgroup;

import io.framecast.engine.memory.Pages;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/// Memory for copies of frames, whose lengths are powers of two. Each buffer is used again and again.
///
/// One thread at a time. The arena frees the memory.
final class FrameBuffers {
    private final Arena arena;
    // By the exponent of the length.
    private final List<ArrayDeque<MemorySegment>> spare = new ArrayList<>();

    FrameBuffers(final Arena arena) {
        this.arena = arena;
    }

    /// @param bytes a power of two
    /// @throws OutOfMemoryError when the system has no memory
    MemorySegment take(final long bytes) {
        final MemorySegment used = spare(bytes).poll();
        return used == null ? Pages.allocate(arena, bytes) : used;
    }

    void giveBack(final MemorySegment buffer) {
        spare(buffer.byteSize()).add(buffer);
    }

    private ArrayDeque<MemorySegment> spare(final long bytes) {
        final int exponent = Long.numberOfTrailingZeros(bytes);
        while (spare.size() <= exponent) {
            spare.add(new ArrayDeque<>());
        }
        return spare.get(exponent);
    }
}
