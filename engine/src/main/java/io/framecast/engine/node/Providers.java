package io.framecast.engine.node;

import io.framecast.api.Channel;
import io.framecast.api.error.ConfigException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceBackendProvider;
import io.framecast.api.spi.Transport;
import io.framecast.api.spi.TransportConfig;
import io.framecast.api.spi.TransportProvider;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.function.Consumer;

/// Chooses transports and devices among what `ServiceLoader` finds, and says what was chosen.
final class Providers {
    private static final String EMULATED = "emulated";
    private static final String HOST = "host";

    private final Consumer<String> notices;
    private final List<TransportProvider> transports;
    private final List<DeviceBackendProvider> devices;

    Providers(
            final Consumer<String> notices,
            final List<TransportProvider> transports,
            final List<DeviceBackendProvider> devices) {
        this.notices = notices;
        this.transports = transports;
        this.devices = devices;
    }

    /// What is on the class path, best first.
    static Providers found(final Consumer<String> notices) {
        return new Providers(
                notices,
                ServiceLoader.load(TransportProvider.class).stream()
                        .map(ServiceLoader.Provider::get)
                        .sorted(Comparator.comparingInt(TransportProvider::rank).reversed())
                        .toList(),
                ServiceLoader.load(DeviceBackendProvider.class).stream()
                        .map(ServiceLoader.Provider::get)
                        .sorted(Comparator.comparingInt(DeviceBackendProvider::rank)
                                .reversed())
                        .toList());
    }

    /// The channel with `auto` replaced by the transport that is taken.
    Channel resolve(final Channel channel) {
        return "auto".equals(channel.transport())
                ? channel.withTransport(bestTransport(channel).name())
                : channel;
    }

    /// Opens the transport of a resolved channel.
    Transport openTransport(final Channel channel) {
        final TransportProvider provider = namedTransport(channel.transport());
        final Transport transport = provider.open(new TransportConfig(channel, notices));
        notices.accept("transport: " + provider.name());
        return channel.link().oneSided() ? transport : new DatagramsOnly(transport);
    }

    // Only aeron fans out by unicast and by shared memory.
    private TransportProvider bestTransport(final Channel channel) {
        if (!(channel instanceof Channel.Multicast)) {
            return namedTransport("aeron");
        }
        return transports.stream()
                .filter(provider -> provider.unavailable(channel).isEmpty())
                .findFirst()
                .orElseThrow(() -> new ConfigException("transport: none is available on this machine"));
    }

    private TransportProvider namedTransport(final String name) {
        final TransportProvider provider = transports.stream()
                .filter(candidate -> candidate.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new ConfigException("transport: " + name
                        + " is not part of this build; expected auto or one of "
                        + transports.stream().map(TransportProvider::name).toList()));
        provider.unavailable().ifPresent(reason -> {
            throw new ConfigException("transport: " + name + " cannot be used here: " + reason);
        });
        return provider;
    }

    /// Opens the device of a channel's `device=`.
    DeviceBackend openDevice(final String device) {
        if (device.equals("auto") || device.equals("auto," + EMULATED)) {
            return openAuto(device.endsWith(EMULATED));
        }
        final int colon = device.indexOf(':');
        final String kind = colon < 0 ? device : device.substring(0, colon);
        final int ordinal = colon < 0 ? 0 : Integer.parseInt(device.substring(colon + 1));
        final DeviceBackendProvider provider = devices.stream()
                .filter(candidate -> candidate.kind().equals(kind))
                .findFirst()
                .orElseThrow(() -> new ConfigException(
                        "device: " + kind + " is not on the class path; put framecast-gpu-sink on it"));
        provider.unavailable().ifPresent(reason -> {
            throw new ConfigException("device: " + device + " cannot be used here: " + reason
                    + "; mend that, or use device=auto, which takes what works");
        });
        if (ordinal >= provider.deviceCount()) {
            throw new ConfigException(
                    "device: expected " + kind + " below " + provider.deviceCount() + ", got " + device);
        }
        return open(provider, ordinal);
    }

    // An emulated GPU is taken only by those who asked for it: to others it would look as if all were well.
    private DeviceBackend openAuto(final boolean emulated) {
        String missing = "";
        for (final DeviceBackendProvider provider : devices) {
            if (!emulated && EMULATED.equals(provider.kind())) {
                continue;
            }
            final Optional<String> reason = provider.unavailable();
            if (reason.isPresent()) {
                missing = reason.get();
                continue;
            }
            final DeviceBackend device = open(provider, 0);
            tellAuto(provider, missing);
            return device;
        }
        throw new ConfigException("device: none is available on this machine");
    }

    private void tellAuto(final DeviceBackendProvider taken, final String missing) {
        switch (taken.kind()) {
            case EMULATED -> {
                if (!missing.isEmpty()) {
                    notices.accept(missing + ": emulated GPU");
                }
            }
            case HOST ->
                notices.accept("device auto: host memory, for there is no GPU ("
                        + (missing.isEmpty() ? "framecast-gpu-sink is not on the class path" : missing)
                        + "); device=auto,emulated takes an emulated one");
            default -> notices.accept("device auto: " + taken.kind() + ":0");
        }
    }

    private static DeviceBackend open(final DeviceBackendProvider provider, final int ordinal) {
        return provider.open(ordinal);
    }
}
