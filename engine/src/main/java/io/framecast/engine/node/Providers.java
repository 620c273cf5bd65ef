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
        if ("auto".equals(device)) {
            return openAuto();
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

    private DeviceBackend openAuto() {
        String missing = "";
        for (final DeviceBackendProvider provider : devices) {
            final Optional<String> reason = provider.unavailable();
            if (reason.isPresent()) {
                missing = reason.get() + ": ";
                continue;
            }
            final DeviceBackend device = open(provider, 0);
            if (!missing.isEmpty()) {
                notices.accept(missing + describe(provider));
            }
            return device;
        }
        throw new ConfigException("device: none is available on this machine");
    }

    private static String describe(final DeviceBackendProvider provider) {
        return "emulated".equals(provider.kind()) ? "emulated GPU" : provider.kind();
    }

    private static DeviceBackend open(final DeviceBackendProvider provider, final int ordinal) {
        return provider.open(ordinal);
    }
}
