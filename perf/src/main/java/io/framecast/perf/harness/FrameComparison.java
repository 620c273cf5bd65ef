package io.framecast.perf.harness;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.perf.harness.FrameContent.Stamp;
import java.lang.foreign.MemorySegment;

/// Compares frames in memory of a device, or of the host, with those sent. One thread.
public final class FrameComparison implements AutoCloseable {
    private static final long END_OFFSET = 64;

    private final DeviceBackend device;
    private final long frameBytes;
    private final DeviceStream stream;
    private final MemorySegment ends;
    private final MemorySegment whole;
    private final MemorySegment expected;

    public FrameComparison(final DeviceBackend device, final long frameBytes) {
        this.device = device;
        this.frameBytes = frameBytes;
        stream = device.openStream();
        ends = device.allocatePinned(2 * END_OFFSET);
        whole = device.allocatePinned(frameBytes);
        expected = device.allocatePinned(frameBytes);
        FrameContent.fill(expected);
    }

    /// The front of a frame, whose end belongs to it.
    ///
    /// @throws FramesDifferException when its length or its end is another
    public Stamp front(final DeviceRegion frame) {
        if (frame.bytes() != frameBytes) {
            throw new FramesDifferException("a frame of " + frame.bytes() + " bytes, expected " + frameBytes);
        }
        final long end = frameBytes - Long.BYTES;
        if (frame.hostAddressable()) {
            MemorySegment.copy(frame.host(), 0, ends, 0, FrameContent.STAMP_BYTES);
            MemorySegment.copy(frame.host(), end, ends, END_OFFSET, Long.BYTES);
        } else {
            stream.copyToHost(ends, 0, frame.address(), FrameContent.STAMP_BYTES);
            stream.copyToHost(ends, END_OFFSET, frame.address() + end, Long.BYTES);
            stream.synchronize();
        }
        final Stamp stamp = FrameContent.read(ends, 0);
        FrameContent.requireEnd(ends.asSlice(END_OFFSET, Long.BYTES), frameBytes, stamp);
        return stamp;
    }

    /// @throws FramesDifferException when any byte differs
    public void requireSame(final DeviceRegion frame, final Stamp stamp) {
        if (frame.hostAddressable()) {
            FrameContent.requireSame(frame.host().asSlice(0, frameBytes), expected, stamp);
        } else {
            stream.copyToHost(whole, 0, frame.address(), frameBytes);
            stream.synchronize();
            FrameContent.requireSame(whole, expected, stamp);
        }
    }

    @Override
    public void close() {
        stream.close();
        device.freePinned(ends);
        device.freePinned(whole);
        device.freePinned(expected);
    }
}
