package io.framecast.engine.subscribe;

import io.framecast.api.PlacementOptions.Kind;
import io.framecast.api.PlacementReport;
import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.Transport;
import io.framecast.engine.session.EncryptionLimits;
import io.framecast.engine.sink.PlacementProbe;
import io.framecast.reliability.wire.StreamInfo;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The placement of a subscriber's frames in its device's memory: chosen once for all sessions, before the memory
/// of the first is counted, and again where it does not work for one.
///
/// Used by the conductor.
final class PlacementChoice {
    private final EngineSubscriber subscriber;
    private final Consumer<String> notices;
    private final PlacementProbe probe;
    // Found when the first session opens; null where frames lie in host memory.
    private @Nullable PlacementReport chosen;

    PlacementChoice(final EngineSubscriber subscriber, final Transport transport, final Consumer<String> notices) {
        this.subscriber = subscriber;
        this.notices = notices;
        probe = new PlacementProbe(subscriber.channel().stream().placement(), subscriber.device(), transport);
    }

    /// The placement of a stream's frames; null where they lie in host memory.
    ///
    /// @throws io.framecast.api.error.ConfigException where the placement that the channel names does not work
    @Nullable
    Kind of(final StreamInfo stream) {
        if (chosen == null && !subscriber.device().hostAddressable()) {
            report(probe.probe());
        }
        final PlacementReport first = chosen;
        if (first == null) {
            return null;
        }
        // The payloads of this session must be opened in host memory first.
        EncryptionLimits.refusal(first.kind(), stream.seal()).ifPresent(refusal -> {
            final PlacementReport instead = probe.without(first.kind(), refusal);
            notices.accept("subscriber of " + subscriber.channel().name() + ": placement: " + instead);
            report(instead);
        });
        return Objects.requireNonNull(chosen).kind();
    }

    /// The next placement is tried: the ring can be too long for a placement that worked with the probe's short
    /// one.
    ///
    /// @throws io.framecast.api.error.ConfigException where the channel names the placement that failed
    void onFailed(final Kind kind, final DeviceException cause) {
        report(probe.without(kind, cause));
    }

    private void report(final PlacementReport report) {
        chosen = report;
        subscriber.onPlacement(report);
    }

    /// The longest frames, in bytes, that the CPU copies by a mapping of the device's memory.
    long fastcopyMaxBytes() {
        return Objects.requireNonNull(chosen).fastcopyMaxBytes();
    }
}
