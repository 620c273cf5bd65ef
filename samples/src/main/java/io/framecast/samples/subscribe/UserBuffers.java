package io.framecast.samples.subscribe;

import io.framecast.api.DeviceFrame;
import io.framecast.api.Subscriber;
import io.framecast.api.error.ConfigException;
import io.framecast.api.spi.DeviceRegion;
import java.util.ArrayList;
import java.util.List;

/// Buffers of the subscriber's device that are posted for the frames to come: each is posted again when the frame in
/// it was released. The device frees them.
///
/// Threading: the subscriber's thread.
final class UserBuffers {
    private final Subscriber subscriber;
    private final List<DeviceRegion> buffers = new ArrayList<>();
    private long filled;

    /// Allocates and posts them.
    ///
    /// @throws ConfigException where the subscriber takes none
    UserBuffers(final Subscriber subscriber, final int count) {
        this.subscriber = subscriber;
        final long bytes = subscriber.channel().stream().frameMaxBytes();
        for (int i = 0; i < count; i++) {
            buffers.add(subscriber.device().allocate(bytes));
        }
        if (!post() && subscriber.state() == Subscriber.State.JOINING) {
            throw new ConfigException(
                    "--post: this subscriber receives into no buffers of its user; set host-group=off");
        }
    }

    /// Posts the buffers whose frames were released.
    ///
    /// @return whether all are posted, or hold a frame
    boolean post() {
        try {
            return buffers.stream().allMatch(buffer -> subscriber.isPosted(buffer) || subscriber.post(buffer));
        } catch (final IllegalArgumentException e) {
            throw new ConfigException("--post: " + e.getMessage());
        }
    }

    /// Counts a frame that lies in one of them.
    void note(final DeviceFrame frame) {
        final long address = frame.region().address();
        filled += buffers.stream().anyMatch(buffer -> buffer.address() == address) ? 1 : 0;
    }

    boolean isUsed() {
        return !buffers.isEmpty();
    }

    /// Frames that were received into them.
    long filled() {
        return filled;
    }
}
