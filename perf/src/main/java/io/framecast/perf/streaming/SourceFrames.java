package io.framecast.perf.streaming;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.perf.harness.FrameContent;
import io.framecast.perf.harness.FrameContent.Stamp;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// The source's frame, in its device's memory or in the host's, and copies of it on their way out. The host
/// writes the marks of each frame: into the copy, or into the frame where it lies.
final class SourceFrames implements AutoCloseable {
    private final DeviceBackend device;
    private final DeviceStream stream;
    private final DeviceEvent written;
    private final DeviceRegion region;
    private final MemorySegment noise;
    private final List<MemorySegment> slots;
    private final List<DeviceEvent> fetched;
    private final boolean inDevice;
    private final int frameBytes;
    private final int chunkBytes;

    SourceFrames(final StreamingSpec spec, final DeviceBackend device) {
        this.device = device;
        frameBytes = spec.frameBytes();
        chunkBytes = spec.chunkBytes();
        inDevice = spec.plan().sourceInDevice() && !device.hostAddressable();
        stream = device.openStream();
        written = device.openEvent();
        noise = device.allocatePinned(frameBytes);
        FrameContent.fill(noise);
        region = device.allocate(inDevice ? frameBytes : 1);
        if (inDevice) {
            stream.copyToDevice(region.address(), noise, 0, frameBytes);
            stream.synchronize();
        }
        // One on its way out of the device, one that is sent, and the one before, which a link may still read.
        slots = List.of(
                device.allocatePinned(chunkBytes),
                device.allocatePinned(chunkBytes),
                device.allocatePinned(chunkBytes));
        fetched = List.of(device.openEvent(), device.openEvent(), device.openEvent());
    }

    /// Whether frames come from a device's memory.
    boolean inDevice() {
        return inDevice;
    }

    /// The frame where it lies in the device.
    DeviceRegion region() {
        return region;
    }

    /// Copies the frame, which lies in the host, and marks the copy.
    void copyTo(final MemorySegment target, final Stamp stamp) {
        target.copyFrom(noise);
        FrameContent.stamp(target, stamp);
    }

    /// Marks the frame where it lies in the device, whose last mark has been read. Of a frame that is not
    /// compared, only the bytes that receivers look at: copies of whole frames into the source's device are not
    /// measured.
    ///
    /// @return complete when it is marked
    DeviceEvent stampInDevice(final Stamp stamp) {
        FrameContent.stamp(noise, stamp);
        if (stamp.is(Stamp.CHECKED)) {
            stream.copyToDevice(region.address(), noise, 0, frameBytes);
        } else {
            final long end = (long) frameBytes - Long.BYTES;
            stream.copyToDevice(region.address(), noise, 0, FrameContent.STAMP_BYTES);
            stream.copyToDevice(region.address() + end, noise, end, Long.BYTES);
        }
        stream.record(written);
        return written;
    }

    /// Names the memory that is sent from.
    void use(final TreeLinks links) {
        links.use(noise);
        slots.forEach(links::use);
    }

    /// Sends the frame in chunks, one on its way out of the device while the one before it is sent.
    void send(final Stamp stamp, final TreeLinks links) throws IOException {
        if (!inDevice) {
            // The frame before it is in the same memory.
            links.flush();
            FrameContent.stamp(noise, stamp);
            for (int offset = 0; offset < frameBytes; offset += chunkBytes) {
                links.write(noise.asSlice(offset, length(offset)));
            }
            return;
        }
        fetch(0);
        for (int offset = 0; offset < frameBytes; offset += chunkBytes) {
            if (offset + chunkBytes < frameBytes) {
                fetch(offset + chunkBytes);
            }
            fetched.get(slot(offset)).synchronize();
            final MemorySegment part = part(offset);
            FrameContent.stampPart(part, offset, frameBytes, stamp);
            links.write(part);
        }
    }

    private void fetch(final int offset) {
        stream.copyToHost(part(offset), 0, region.address() + offset, length(offset));
        stream.record(fetched.get(slot(offset)));
    }

    private MemorySegment part(final int offset) {
        return slots.get(slot(offset)).asSlice(0, length(offset));
    }

    private int slot(final int offset) {
        return offset / chunkBytes % slots.size();
    }

    private int length(final int offset) {
        return Math.min(chunkBytes, frameBytes - offset);
    }

    @Override
    public void close() {
        stream.close();
        written.close();
        fetched.forEach(DeviceEvent::close);
        slots.forEach(device::freePinned);
        device.freePinned(noise);
        device.free(region);
    }
}
