package io.framecast.engine.subscribe;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceStream;
import io.framecast.engine.session.UseGuard;
import org.jspecify.annotations.Nullable;

/// The stream that a subscriber's frames offer for work on them. The first request opens it, and it is closed with
/// the device. Used by the subscriber's thread, except for [#device].
final class ConsumerStream {
    private final DeviceBackend device;
    private final UseGuard guard;
    private @Nullable DeviceStream stream;

    /// @param guard the subscriber's
    ConsumerStream(final DeviceBackend device, final UseGuard guard) {
        this.device = device;
        this.guard = guard;
    }

    DeviceBackend device() {
        return device;
    }

    /// Returns the stream; work that is enqueued on it from now on starts after the event.
    DeviceStream behind(final DeviceEvent ready) {
        try (UseGuard _ = guard.enter()) {
            if (stream == null) {
                stream = device.openStream();
            }
            stream.await(ready);
            return stream;
        }
    }
}
