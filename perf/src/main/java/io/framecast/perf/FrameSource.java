package io.framecast.perf;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/// Makes the frames of one measured stream, as fast as they are taken, until the time is over.
final class FrameSource {
    private FrameSource() {}

    /// @param publish takes one frame, whose memory is then used for the next
    static void run(final StreamSpec spec, final Consumer<MemorySegment> publish) {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment frame = arena.allocate(spec.frameBytes(), Long.BYTES);
            FrameStamp.fill(frame);
            final long startNs = FrameStamp.nowNs();
            boolean last = false;
            for (long number = 0; !last; number++) {
                final long nowNs = FrameStamp.nowNs();
                last = nowNs - startNs >= spec.warmUpNs() + spec.measureNs();
                FrameStamp.write(frame, nowNs, number, last);
                publish.accept(frame);
            }
        }
    }
}
