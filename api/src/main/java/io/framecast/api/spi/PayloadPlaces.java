package io.framecast.api.spi;

import org.jspecify.annotations.Nullable;

/// Where the payloads of a send ring lie that do not lie in its host memory.
///
/// Threading: one thread, the publisher's, sets the place of a slot before it hands the slot to the lanes,
/// and again only when they use it no more. The lanes' thread reads it.
public final class PayloadPlaces {
    private final @Nullable GatherSource[] sources;
    private final long[] offsets;

    /// @param slots of the ring
    public PayloadPlaces(final int slots) {
        sources = new GatherSource[slots];
        offsets = new long[slots];
    }

    /// The payload of a slot lies `offset` bytes behind the beginning of that memory.
    public void set(final int slot, final GatherSource source, final long offset) {
        sources[slot] = source;
        offsets[slot] = offset;
    }

    /// The payload of a slot lies in the ring.
    public void clear(final int slot) {
        sources[slot] = null;
    }

    /// Null for the ring itself.
    public @Nullable GatherSource source(final int slot) {
        return sources[slot];
    }

    public long offset(final int slot) {
        return offsets[slot];
    }
}
