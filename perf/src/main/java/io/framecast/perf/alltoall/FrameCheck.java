package io.framecast.perf.alltoall;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.perf.harness.FrameComparison;
import io.framecast.perf.harness.FrameContent.Stamp;
import io.framecast.perf.harness.FramesDifferException;

/// Compares frames with what was sent: the front and the end of each, and every byte of the first of each source.
final class FrameCheck implements AutoCloseable {
    private final FrameComparison comparison;
    private final long[] next;

    FrameCheck(final DeviceBackend device, final int frameBytes, final int processes) {
        comparison = new FrameComparison(device, frameBytes);
        next = new long[processes];
    }

    /// @param source whose frame it is
    void onFrame(final int source, final DeviceRegion frame) {
        final Stamp stamp = comparison.front(frame);
        if (stamp.number() != next[source]) {
            throw new FramesDifferException(
                    "frame " + stamp.number() + " of process " + source + " came where " + next[source] + " was due");
        }
        if (next[source]++ == 0) {
            comparison.requireSame(frame, stamp);
        }
    }

    @Override
    public void close() {
        comparison.close();
    }
}
