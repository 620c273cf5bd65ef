package io.framecast.engine.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Host memory of a ring, mapped twice back to back where the system can do that, so that what wraps around the ring's
/// end
/// is contiguous all the same: byte `bytes + i` is byte `i`.
///
/// Ownership: whoever allocated it closes it; segments handed out must not be used afterwards.
public final class MirroredMemory implements AutoCloseable {
    private static final long PAGE_BYTES = 4096;

    private final MemorySegment segment;
    private final boolean mirrored;
    private final AutoCloseable owner;

    private MirroredMemory(final MemorySegment segment, final boolean mirrored, final AutoCloseable owner) {
        this.segment = segment;
        this.mirrored = mirrored;
        this.owner = owner;
    }

    /// Allocates zeroed memory. Where it cannot be mapped twice (no Linux, no memfd, not whole pages) it is plain, with
    /// room behind the ring.
    ///
    /// @param bytes of the ring
    /// @param spareBytes room behind a plain ring, at most `bytes`
    public static MirroredMemory allocate(final long bytes, final long spareBytes) {
        if (bytes <= 0 || spareBytes < 0) {
            throw new IllegalArgumentException("ring memory: expected bytes > 0, got " + bytes);
        }
        if (bytes % PAGE_BYTES == 0 && Mappings.available()) {
            final MemorySegment twice = Mappings.mapTwice(bytes);
            if (twice.byteSize() > 0) {
                return new MirroredMemory(twice, true, () -> Mappings.unmap(twice));
            }
        }
        final Arena arena = Arena.ofShared();
        return new MirroredMemory(arena.allocate(bytes + spareBytes, PAGE_BYTES), false, arena);
    }

    /// Whether the segment shows the ring twice.
    public boolean mirrored() {
        return mirrored;
    }

    /// The ring, followed by its mirror or by spare room.
    public MemorySegment segment() {
        return segment;
    }

    @Override
    public void close() {
        try {
            owner.close();
        } catch (final Exception e) {
            throw new IllegalStateException("ring memory could not be freed", e);
        }
    }
}
