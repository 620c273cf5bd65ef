package io.framecast.perf.chaos;

import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/// The demand of a subscriber on its frames: each from the first one on, once, in order, as published.
/// One thread.
final class FrameCheck {
    private final ChaosFrames frames;
    private final Consumer<String> complaints;
    private long lastId = -1;
    private long count;

    /// @param complaints takes a line for each thing that is wrong
    FrameCheck(final ChaosFrames frames, final Consumer<String> complaints) {
        this.frames = frames;
        this.complaints = complaints;
    }

    void onFrame(final long frameId, final MemorySegment bytes, final byte[] metadata) {
        if (count > 0 && frameId != lastId + 1) {
            complaints.accept((frameId <= lastId ? "twice or out of order: frame " : "frames missing before frame ")
                    + frameId + ", after frame " + lastId);
        }
        lastId = Math.max(lastId, frameId);
        count++;
        final String wrong = frames.complaint(frameId, bytes, metadata);
        if (!wrong.isEmpty()) {
            complaints.accept(wrong);
        }
    }

    /// Frames will not come: those that follow the last one, which was said.
    void onLost(final long first, final long lost) {
        if (first != lastId + 1) {
            complaints.accept("reported lost: " + lost + " frames from " + first + " on, after frame " + lastId);
        }
        lastId = Math.max(lastId, first + lost - 1);
    }

    /// The highest frame's number; −1 before the first.
    long lastId() {
        return lastId;
    }

    long count() {
        return count;
    }
}
