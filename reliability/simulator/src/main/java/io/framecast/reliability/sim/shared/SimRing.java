package io.framecast.reliability.sim.shared;

import io.framecast.reliability.group.HeldFrames;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A member's mapping of its leader's ring, in which runs of bytes are kept as copies.
public final class SimRing implements HeldFrames.Ring {
    private final SimSegment segment;
    // By offset.
    private final Map<Long, byte[]> kept = new HashMap<>();

    public SimRing(final SimSegment segment) {
        this.segment = segment;
    }

    @Override
    public boolean isKept(final long offset, final long length) {
        final int ringBytes = segment.ring().length;
        return kept.entrySet().stream()
                .anyMatch(run -> Math.floorMod(offset - run.getKey(), ringBytes) < run.getValue().length
                        || Math.floorMod(run.getKey() - offset, ringBytes) < length);
    }

    @Override
    public boolean keep(final long offset, final long length) {
        kept.put(offset, segment.read(offset, (int) length));
        return true;
    }

    @Override
    public void giveBack(final long offset, final long length) {
        kept.remove(offset);
    }

    /// The bytes of a run that is kept; null for one that is not.
    public byte @Nullable [] copy(final long offset) {
        return kept.get(offset);
    }
}
