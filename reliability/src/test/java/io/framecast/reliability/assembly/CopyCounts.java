package io.framecast.reliability.assembly;

import java.lang.foreign.MemorySegment;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

/// A receiver's memory in tests, without its copies: the spaces, and how many copies were begun and have ended.
public abstract class CopyCounts implements FrameMemory {
    private final Map<Space, MemorySegment> spaces = new EnumMap<>(Space.class);
    private final boolean mappedTwice;
    private long submitted;
    private long completed;

    protected CopyCounts(final boolean mappedTwice) {
        this.mappedTwice = mappedTwice;
    }

    protected final MemorySegment put(final Space space, final MemorySegment memory) {
        spaces.put(space, memory);
        return memory;
    }

    public final MemorySegment of(final Space space) {
        return Objects.requireNonNull(spaces.get(space), space::name);
    }

    protected final void begin() {
        submitted++;
    }

    /// Every copy so far has ended.
    public final void finish() {
        completed = submitted;
    }

    /// The first `count` copies have ended.
    public final void finish(final long count) {
        completed = count;
    }

    @Override
    public final boolean isRingMappedTwice() {
        return mappedTwice;
    }

    @Override
    public final long submitted() {
        return submitted;
    }

    @Override
    public final long completed() {
        return completed;
    }

    @Override
    public final boolean isVisible(final long count) {
        return completed >= count;
    }

    @Override
    public final MemorySegment read(final Space space, final long offset, final int bytes) {
        return of(space).asSlice(offset, bytes);
    }
}
