package io.framecast.samples;

import io.framecast.api.Channel;
import io.framecast.api.error.ConfigException;
import io.framecast.api.provider.ProviderLookup;

/// Checks a device before processes are started for it: each of them would fail for the same reason, late.
public final class Devices {
    private static final String STAND_IN = "auto,emulated";

    private Devices() {}

    /// The channel with the device that `--device` names.
    ///
    /// @throws ConfigException naming the option and its values, also when no provider has the device
    public static Channel withDevice(final Channel channel, final String device) {
        return NodeOptions.checked(() -> {
            final Channel changed = channel.withStream(channel.stream().withDevice(device));
            require(changed);
            return changed;
        });
    }

    /// The tool goes on without a GPU and reports it: `auto` becomes `auto,emulated`.
    public static Channel orEmulated(final Channel channel) {
        return channel.stream().device().equals(ProviderLookup.AUTO)
                ? channel.withStream(channel.stream().withDevice(STAND_IN))
                : channel;
    }

    /// @throws ConfigException when there is no such device on this machine
    public static void require(final Channel channel) {
        final String device = channel.stream().device();
        if (!device.equals(ProviderLookup.AUTO) && !device.equals(STAND_IN)) {
            ProviderLookup.device(ProviderLookup.devices(), device);
        }
    }
}
