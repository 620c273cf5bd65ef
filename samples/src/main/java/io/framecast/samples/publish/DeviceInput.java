package io.framecast.samples.publish;

import io.framecast.api.DeviceSourceReport;
import io.framecast.api.FrameOptions;
import io.framecast.api.Publisher;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// Puts each frame of an input into the publisher's window in device memory and publishes it from there, as a
/// program that makes frames on a GPU does. Frames that are longer than the window lie in memory of their
/// own. The publisher's thread.
final class DeviceInput implements AutoCloseable {
    private final Publisher publisher;
    private final DeviceBackend device;
    private final DeviceStream stream;
    private final DeviceEvent written;
    private final MemorySegment host;
    // The publisher has none when it is closed.
    private final Optional<DeviceSourceReport> report;
    private final long frameBytes;
    private long length;
    // Where the next frame lies; null while it is in the host.
    private @Nullable DeviceRegion frame;
    // Of frames that do not fit the window.
    private @Nullable DeviceRegion own;

    DeviceInput(final Publisher publisher, final long frameBytes) {
        this.publisher = publisher;
        device = publisher.device();
        report = publisher.deviceReport();
        // All of it is freed with the device, which the publisher closes.
        stream = device.openStream();
        written = device.openEvent();
        this.frameBytes = frameBytes;
        host = device.allocatePinned(frameBytes);
    }

    String deviceName() {
        return device.name();
    }

    /// Where the next frame is to be read to.
    MemorySegment host() {
        return host;
    }

    /// How its frames are sent.
    Optional<DeviceSourceReport> report() {
        return report;
    }

    /// The frame that was read is the next one.
    void load(final long bytes) {
        length = bytes;
    }

    /// Offers the frame loaded last, as [Publisher#offer(DeviceRegion, DeviceEvent, FrameOptions)].
    long offer(final FrameOptions options) {
        final DeviceRegion next = frame == null ? copied() : frame;
        if (next == null) {
            return publisher.failure().isPresent() ? Publisher.CLOSED : Publisher.BACK_PRESSURED;
        }
        frame = next;
        final long code = publisher.offer(next, written, options);
        if (code > 0) {
            // The host's memory is read to again.
            written.synchronize();
            frame = null;
        }
        return code;
    }

    private @Nullable DeviceRegion copied() {
        final DeviceRegion target = own == null ? claimed() : own.slice(0, length);
        if (target != null) {
            stream.copyToDevice(target.address(), host, 0, length);
            stream.record(written);
        }
        return target;
    }

    private @Nullable DeviceRegion claimed() {
        try {
            return publisher.tryClaimDevice(length);
        } catch (final IllegalArgumentException _) {
            // Longer than the window; or than frame-max, which the offer says.
            final DeviceRegion made = device.allocate(frameBytes);
            own = made;
            return made.slice(0, length);
        }
    }

    @Override
    public void close() {
        CloseHelper.closeAll(List.of(
                stream,
                written,
                () -> {
                    if (own != null) {
                        device.free(own);
                    }
                },
                (AutoCloseable) () -> device.freePinned(host)));
    }
}
