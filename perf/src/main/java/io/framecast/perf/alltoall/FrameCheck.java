package io.framecast.perf.alltoall;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.perf.harness.FrameContent;
import io.framecast.perf.harness.FrameContent.Stamp;
import io.framecast.perf.harness.FramesDifferException;
import java.lang.foreign.MemorySegment;

/// Compares frames with what was sent: the front and the end of each, and every byte of the first of each source.
final class FrameCheck implements AutoCloseable {
    private final DeviceBackend device;
    private final DeviceStream stream;
    private final MemorySegment copy;
    private final MemorySegment expected;
    private final long frameBytes;
    private final long[] next;

    FrameCheck(final DeviceBackend device, final int frameBytes, final int processes) {
        this.device = device;
        this.frameBytes = frameBytes;
        stream = device.openStream();
        copy = device.allocatePinned(frameBytes);
        expected = device.allocatePinned(frameBytes);
        FrameContent.fill(expected);
        next = new long[processes];
    }

    /// @param source whose frame it is
    void onFrame(final int source, final DeviceRegion region) {
        if (region.bytes() != frameBytes) {
            throw new FramesDifferException("a frame of " + region.bytes() + " bytes, expected " + frameBytes);
        }
        final MemorySegment frame = device.hostAddressable() ? region.host() : fetched(region, next[source] == 0);
        onFrame(source, frame);
    }

    /// @param frame in host memory
    void onFrame(final int source, final MemorySegment frame) {
        final Stamp stamp = FrameContent.read(frame, 0);
        if (stamp.number() != next[source]) {
            throw new FramesDifferException(
                    "frame " + stamp.number() + " of process " + source + " came where " + next[source] + " was due");
        }
        FrameContent.requireEnd(frame.asSlice(frameBytes - Long.BYTES, Long.BYTES), frameBytes, stamp);
        if (next[source]++ == 0) {
            FrameContent.requireSame(frame.asSlice(0, frameBytes), expected, stamp);
        }
    }

    private MemorySegment fetched(final DeviceRegion region, final boolean whole) {
        if (whole) {
            stream.copyToHost(copy, 0, region.address(), frameBytes);
        } else {
            stream.copyToHost(copy, 0, region.address(), FrameContent.STAMP_BYTES);
            final long end = frameBytes - Long.BYTES;
            stream.copyToHost(copy, end, region.address() + end, Long.BYTES);
        }
        stream.synchronize();
        return copy;
    }

    @Override
    public void close() {
        stream.close();
        device.freePinned(copy);
        device.freePinned(expected);
    }
}
