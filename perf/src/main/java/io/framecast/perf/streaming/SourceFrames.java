package io.framecast.perf.streaming;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.perf.streaming.FrameContent.Stamp;
import java.lang.foreign.MemorySegment;

/// The source's frame, in its device's memory or in the host's, and copies of it on their way out. What tells
/// one frame from the next is written by the host: into the copy, or into the frame where it lies.
final class SourceFrames implements AutoCloseable {
    private final DeviceBackend device;
    private final DeviceStream stream;
    private final DeviceEvent written;
    private final DeviceRegion region;
    private final MemorySegment noise;
    private final boolean inDevice;

    SourceFrames(final StreamingSpec spec, final DeviceBackend device) {
        this.device = device;
        inDevice = spec.plan().sourceInDevice() && !device.hostAddressable();
        stream = device.openStream();
        written = device.openEvent();
        noise = device.allocatePinned(spec.frameBytes());
        FrameContent.fill(noise);
        region = device.allocate(inDevice ? spec.frameBytes() : 1);
        if (inDevice) {
            stream.copyToDevice(region.address(), noise, 0, spec.frameBytes());
            stream.synchronize();
        }
    }

    /// Whether frames come from a device's memory.
    boolean inDevice() {
        return inDevice;
    }

    /// Begins to bring a part of the frame to the host; where the frame lies there it is copied at once.
    ///
    /// @param target of the part's length
    /// @param offset of the part
    void fetch(final MemorySegment target, final long offset) {
        if (inDevice) {
            stream.copyToHost(target, 0, region.address() + offset, target.byteSize());
        } else {
            MemorySegment.copy(noise, offset, target, 0, target.byteSize());
        }
    }

    /// The stream that parts come on.
    DeviceStream stream() {
        return stream;
    }

    /// The frame itself, stamped, where it lies in the host.
    MemorySegment inHost(final Stamp stamp) {
        FrameContent.stamp(noise, stamp);
        return noise;
    }

    /// The frame where it lies in the device.
    DeviceRegion region() {
        return region;
    }

    /// Marks the frame where it lies in the device, whose last mark has been read. Of one that is not
    /// compared only what is looked at: copies of whole frames into the source's device are not what is
    /// measured.
    ///
    /// @return complete when it is marked
    DeviceEvent stampInDevice(final Stamp stamp) {
        FrameContent.stamp(noise, stamp);
        final long bytes = noise.byteSize();
        if (stamp.is(Stamp.CHECKED)) {
            stream.copyToDevice(region.address(), noise, 0, bytes);
        } else {
            final long end = bytes - Long.BYTES;
            stream.copyToDevice(region.address(), noise, 0, FrameContent.stampBytes());
            stream.copyToDevice(region.address() + end, noise, end, Long.BYTES);
        }
        stream.record(written);
        return written;
    }

    @Override
    public void close() {
        stream.close();
        written.close();
        device.freePinned(noise);
        device.free(region);
    }
}
