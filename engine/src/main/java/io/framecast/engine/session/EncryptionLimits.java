package io.framecast.engine.session;

import io.framecast.api.Channel;
import io.framecast.api.PlacementOptions;
import io.framecast.api.error.ConfigException;
import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.reliability.wire.StreamInfo.Seal;
import java.util.Optional;

/// The options that a channel cannot have where its payloads are encrypted: a NIC that writes into a device's
/// memory decrypts nothing, and one that sends from there encrypts nothing.
public final class EncryptionLimits {
    private static final String NO_DIRECT =
            "auth= encrypts payloads, which are decrypted in host memory; payloads=unprotected at both ends lets the NIC"
                    + " write them into the device";

    private EncryptionLimits() {}

    /// Before a subscriber joins.
    ///
    /// @throws ConfigException where it asks for `placement=direct`
    public static void requirePlacement(final Channel channel, final DeviceBackend device) {
        if (channel.link().security().isEncrypted()
                && !device.hostAddressable()
                && channel.stream().placement().kind() == PlacementOptions.Kind.DIRECT) {
            throw new ConfigException("placement: direct cannot be used: " + NO_DIRECT);
        }
    }

    /// Before a session opens: the reason why a placement cannot have the payloads of its stream.
    ///
    /// @param seal of the stream's datagrams
    /// @return empty where it can have them
    public static Optional<DeviceException> refusal(final PlacementOptions.Kind placement, final Seal seal) {
        return placement == PlacementOptions.Kind.DIRECT && seal.isEncrypting()
                ? Optional.of(new DeviceException(NO_DIRECT))
                : Optional.empty();
    }

    /// Before a publisher opens.
    ///
    /// @throws ConfigException where it asks for gathers, and not for a cipher
    public static void requireNoGather(final Channel channel) {
        if (channel.link().security().isByDefault()
                && channel.stream().placement().gatherMaxBytes() > 0) {
            throw new ConfigException("gather-max: auth= encrypts payloads in host memory, so no NIC sends them from a"
                    + " device; write payloads=unprotected at both ends, or cipher=auto to have frames copied");
        }
    }

    /// Before a publisher takes frames in a device's memory.
    ///
    /// @throws ConfigException where it does not ask for a cipher, which would have them copied
    public static void requireHostFrames(final Channel channel, final DeviceBackend device) {
        if (channel.link().security().isByDefault() && !device.hostAddressable()) {
            throw new ConfigException("device: auth= encrypts payloads in host memory, so frames in the memory of "
                    + device.name() + " would be copied there; write payloads=unprotected at both ends, or cipher=auto"
                    + " to have them copied");
        }
    }
}
