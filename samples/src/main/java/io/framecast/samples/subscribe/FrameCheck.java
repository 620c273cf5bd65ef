package io.framecast.samples.subscribe;

import io.framecast.samples.input.TestPattern;
import java.lang.foreign.MemorySegment;

/// Checks frames of `--input test` against the pattern.
final class FrameCheck {
    private final long seed;
    private final boolean complete;
    private long expectedFrameId;
    private String firstMismatch = "";

    /// @param complete whether no frame may be missing
    FrameCheck(final long seed, final boolean complete) {
        this.seed = seed;
        this.complete = complete;
    }

    /// @param frameId the frame's number in its session, which is also the pattern's
    void check(final long frameId, final MemorySegment frame) {
        if (!firstMismatch.isEmpty()) {
            return;
        }
        if (complete ? frameId != expectedFrameId : frameId < expectedFrameId) {
            firstMismatch = "expected frame " + expectedFrameId + ", got frame " + frameId;
            return;
        }
        expectedFrameId = frameId + 1;
        final long at = TestPattern.mismatch(seed, frameId, frame);
        if (at >= 0) {
            firstMismatch = "frame " + frameId + " differs at byte " + at + " of " + frame.byteSize();
        }
    }

    /// In one line; empty when all frames were right.
    String firstMismatch() {
        return firstMismatch;
    }
}
