package io.framecast.engine.node;

import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// What a receiver does to others' memory.
///
/// @param landing where reads land; null where its sink takes none
/// @param source its source's; null where the transport cannot, or is not to
/// @param set its co-root's; null where nothing is read
record Reaches(
        @Nullable PullLanding landing,
        @Nullable SourceReach source,
        @Nullable SetReach set) implements AutoCloseable {
    /// Everything by datagram.
    static final Reaches NONE = new Reaches(null, null, null);

    /// What the source must be given; empty for nothing.
    byte[] descriptor() {
        return source == null ? new byte[0] : source.descriptor();
    }

    @Override
    public void close() {
        CloseHelper.closeAll(set, source, landing);
    }
}
