package io.framecast.perf;

import java.lang.foreign.MemorySegment;

/// Goodput at the subscriber: payload of the frames published after the warm-up, over the time from the first of these
/// publishes to the last frame in place.
final class GoodputMeter {
    private final long warmUpNs;
    private long frames;
    private long streamNs;
    private long firstNs;
    private long lastNs;
    private long bytes;

    GoodputMeter(final long warmUpNs) {
        this.warmUpNs = warmUpNs;
    }

    /// A whole frame is in place.
    ///
    /// @return whether it was the last
    /// @throws IllegalStateException when it is not the frame that was due
    boolean onFrame(final MemorySegment frame) {
        if (!FrameStamp.isNumber(frame, frames)) {
            throw new IllegalStateException("frame " + frames + " is not what was published");
        }
        final long publishNs = FrameStamp.publishNs(frame);
        streamNs = frames == 0 ? publishNs : streamNs;
        if (publishNs - streamNs >= warmUpNs) {
            firstNs = bytes == 0 ? publishNs : firstNs;
            lastNs = FrameStamp.nowNs();
            bytes += frame.byteSize();
        }
        frames++;
        return FrameStamp.isLast(frame);
    }

    /// In units of 10^6 bytes per second.
    double goodputMBps() {
        if (lastNs <= firstNs) {
            throw new IllegalStateException("no frame was published after the warm-up: measure for longer");
        }
        return bytes * 1e3 / (lastNs - firstNs);
    }
}
