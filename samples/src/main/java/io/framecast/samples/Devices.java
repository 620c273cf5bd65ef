package io.framecast.samples;

import io.framecast.api.Channel;
import io.framecast.api.error.ConfigException;
import io.framecast.api.spi.DeviceBackendProvider;
import java.util.ServiceLoader;

/// Looks for a device before processes are started for it: each of them would fail for the same reason, late.
final class Devices {
    private static final String MEND = "; device auto takes what is there";

    private Devices() {}

    /// The tool goes on without a GPU, and says so: `auto` is `auto,emulated` here.
    static Channel orEmulated(final Channel channel) {
        return channel.stream().device().equals("auto")
                ? channel.withStream(channel.stream().withDevice("auto,emulated"))
                : channel;
    }

    /// Looks for it.
    ///
    /// @param device as in `--device` or the URI; a word that means nothing is refused elsewhere
    /// @throws ConfigException when there is no such device on this machine
    static void require(final String device) {
        final int colon = device.indexOf(':');
        final String kind = colon < 0 ? device : device.substring(0, colon);
        for (final DeviceBackendProvider provider : ServiceLoader.load(DeviceBackendProvider.class)) {
            if (provider.kind().equals(kind)) {
                require(device, colon, provider);
            }
        }
    }

    private static void require(final String device, final int colon, final DeviceBackendProvider provider) {
        provider.unavailable().ifPresent(reason -> {
            throw new ConfigException("device: " + device + " cannot be used here: " + reason + MEND);
        });
        final String ordinal = colon < 0 ? "0" : device.substring(colon + 1);
        if (ordinal.matches("\\d{1,3}") && Integer.parseInt(ordinal) >= provider.deviceCount()) {
            throw new ConfigException("device: expected " + provider.kind() + " below " + provider.deviceCount()
                    + ", got " + device + MEND);
        }
    }
}
