package io.framecast.engine.memory;

import java.lang.foreign.MemorySegment;

/// The one place of the engine where an address becomes memory.
final class SegmentViews {
    private SegmentViews() {}

    /// Memory that somebody mapped: valid until it is unmapped, and not a moment longer.
    static MemorySegment ofAddress(final long address, final long bytes) {
        return MemorySegment.ofAddress(address).reinterpret(bytes);
    }
}
