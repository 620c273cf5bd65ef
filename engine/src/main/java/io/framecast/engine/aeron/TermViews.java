package io.framecast.engine.aeron;

import io.framecast.engine.net.RedirectedSlots;
import java.lang.foreign.MemorySegment;
import org.agrona.DirectBuffer;

/// Copies between Aeron's memory-mapped term buffers and rings: the one place of this transport where a raw
/// address is used. The term side is bounded by Aeron, which hands out ranges within a term; the ring side by
/// its own segment, which also keeps its liveness check.
final class TermViews {
    /// All of memory: a segment per term buffer would have to be kept for each of an image's three terms.
    private static final MemorySegment MEMORY = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private TermViews() {}

    static void copyOut(
            final DirectBuffer term, final int offset, final MemorySegment ring, final long at, final int bytes) {
        MemorySegment.copy(MEMORY, term.addressOffset() + offset, ring, at, bytes);
    }

    static void copyOut(
            final DirectBuffer term, final int offset, final RedirectedSlots slots, final int slot, final int bytes) {
        slots.put(MEMORY, term.addressOffset() + offset, slot, bytes);
    }

    static void copyIn(
            final MemorySegment ring, final long at, final DirectBuffer term, final int offset, final int bytes) {
        MemorySegment.copy(ring, at, MEMORY, term.addressOffset() + offset, bytes);
    }
}
