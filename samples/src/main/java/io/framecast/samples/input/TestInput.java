package io.framecast.samples.input;

import java.lang.foreign.MemorySegment;

/// `--input test`: [TestPattern] without end.
final class TestInput implements FrameInput {
    private final long seed;
    private final long frameBytes;
    private long frameIndex;
    private volatile boolean cancelled;

    TestInput(final long seed, final long frameBytes) {
        this.seed = seed;
        this.frameBytes = frameBytes;
    }

    @Override
    public long nextBytes() {
        return cancelled ? 0 : frameBytes;
    }

    @Override
    public long read(final MemorySegment target) {
        TestPattern.fill(seed, frameIndex, target);
        frameIndex++;
        return target.byteSize();
    }

    @Override
    public boolean isUnfinished() {
        return false;
    }

    @Override
    public void cancel() {
        cancelled = true;
    }

    @Override
    public void close() {
        cancel();
    }
}
