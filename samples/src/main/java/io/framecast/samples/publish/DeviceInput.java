package io.framecast.samples.publish;

import io.framecast.api.FrameOptions;
import io.framecast.api.Publisher;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.agrona.CloseHelper;

/// Puts each frame of an input into the memory of the publisher's device and publishes it from there, as a program
/// that makes frames on a GPU does. The publisher's thread.
final class DeviceInput implements AutoCloseable {
    private final Publisher publisher;
    private final DeviceBackend device;
    private final DeviceStream stream;
    private final DeviceEvent written;
    private final DeviceRegion frame;
    private final MemorySegment host;
    private long length;

    DeviceInput(final Publisher publisher, final long frameBytes) {
        this.publisher = publisher;
        device = publisher.device();
        // All of it is freed with the device, which the publisher closes.
        stream = device.openStream();
        written = device.openEvent();
        frame = device.allocate(frameBytes);
        host = device.allocatePinned(frameBytes);
    }

    String deviceName() {
        return device.name();
    }

    /// Where the next frame is to be read to.
    MemorySegment host() {
        return host;
    }

    /// Copies the frame that was read to the device.
    void load(final long bytes) {
        length = bytes;
        stream.copyToDevice(frame.address(), host, 0, bytes);
        stream.record(written);
    }

    /// Offers the frame loaded last, as [Publisher#offer(DeviceRegion, DeviceEvent, FrameOptions)].
    long offer(final FrameOptions options) {
        final long code = publisher.offer(frame.slice(0, length), written, options);
        if (code > 0) {
            // The host's memory is read to again.
            written.synchronize();
        }
        return code;
    }

    @Override
    public void close() {
        CloseHelper.closeAll(
                List.of(stream, written, () -> device.free(frame), (AutoCloseable) () -> device.freePinned(host)));
    }
}
