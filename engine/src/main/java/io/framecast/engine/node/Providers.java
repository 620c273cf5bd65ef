package io.framecast.engine.node;

import io.framecast.api.Channel;
import io.framecast.api.error.ConfigException;
import io.framecast.api.provider.DeviceBackendProvider;
import io.framecast.api.provider.ProviderLookup;
import io.framecast.api.provider.TransportConfig;
import io.framecast.api.provider.TransportProvider;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.Transport;
import io.framecast.engine.port.SharedTransport;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/// Chooses transports and devices among the providers that `ServiceLoader` finds, and reports its choice.
/// Providers own their names: nothing here names a transport or a device but `host`, the engine's own.
final class Providers {
    private static final String AUTO_OR = ProviderLookup.AUTO + ",";
    private static final String HOST = "host";

    private final Consumer<String> notices;
    private final List<TransportProvider> transports;
    private final List<DeviceBackendProvider> devices;
    private final Map<String, String> environment;

    Providers(
            final Consumer<String> notices,
            final List<TransportProvider> transports,
            final List<DeviceBackendProvider> devices,
            final Map<String, String> environment) {
        this.notices = notices;
        this.transports = transports;
        this.devices = devices;
        this.environment = environment;
    }

    Providers(
            final Consumer<String> notices,
            final List<TransportProvider> transports,
            final List<DeviceBackendProvider> devices) {
        this(notices, transports, devices, Map.of());
    }

    /// The providers on the class path.
    static Providers found(final Consumer<String> notices) {
        return new Providers(notices, ProviderLookup.transports(), ProviderLookup.devices(), System.getenv());
    }

    /// The channel with `auto` replaced by the chosen transport.
    Channel resolve(final Channel channel) {
        return ProviderLookup.AUTO.equals(channel.transport())
                ? channel.withTransport(bestTransport(channel).name())
                : channel;
    }

    /// Opens the transport of a resolved channel.
    Transport openTransport(final Channel channel) {
        final TransportProvider provider = ProviderLookup.transport(transports, channel.transport());
        provider.unavailable().ifPresent(reason -> {
            throw new ConfigException("transport: " + provider.name() + " cannot be used here: " + reason);
        });
        if (!provider.carries(channel)) {
            throw new ConfigException("transport: " + provider.name()
                    + " carries multicast groups only; control= and ipc= need a transport with that capability, such as"
                    + " framecast:aeron");
        }
        final Transport transport = provider.open(new TransportConfig(channel, notices));
        notices.accept("transport: " + provider.name());
        return new SharedTransport(transport, channel.link().oneSided());
    }

    private TransportProvider bestTransport(final Channel channel) {
        return transports.stream()
                .filter(provider -> provider.carries(channel)
                        && provider.unavailable(channel).isEmpty())
                .findFirst()
                .orElseThrow(() -> new ConfigException("transport: none is available on this machine for " + channel));
    }

    /// Opens the device of a channel's `device=`.
    DeviceBackend openDevice(final String device) {
        if (device.equals(ProviderLookup.AUTO)) {
            return openAuto("");
        }
        if (device.startsWith(AUTO_OR)) {
            return openAuto(ProviderLookup.kind(devices, device.substring(AUTO_OR.length()))
                    .kind());
        }
        return ProviderLookup.device(devices, device).open();
    }

    // Only users who asked for a stand-in's kind get it; other users would take it for hardware.
    private DeviceBackend openAuto(final String standIn) {
        String missing = "";
        for (final DeviceBackendProvider provider : devices) {
            if (!provider.isAutomatic() && !provider.kind().equals(standIn)) {
                continue;
            }
            final Optional<String> reason = provider.unavailable();
            if (reason.isPresent()) {
                missing = reason.get();
                continue;
            }
            final LocalRank rank = provider.isAutomatic() && !provider.kind().equals(HOST)
                    ? LocalRank.of(environment)
                    : LocalRank.NONE;
            // Launchers often show a process its own GPU alone.
            final int ordinal = rank.number() == 0 ? 0 : rank.number() % Math.max(1, provider.deviceCount());
            final DeviceBackend device = provider.open(ordinal);
            reportAuto(provider, missing, ordinal + rank.origin());
            return device;
        }
        throw new ConfigException("device: none is available on this machine");
    }

    private void reportAuto(final DeviceBackendProvider taken, final String missing, final String number) {
        if (taken.kind().equals(HOST)) {
            notices.accept("device auto: host memory, for there is no GPU ("
                    + (missing.isEmpty() ? "framecast-gpu-sink is not on the class path" : missing)
                    + "); device=auto,emulated takes an emulated one");
        } else if (taken.isAutomatic()) {
            notices.accept("device auto: " + taken.kind() + ":" + number);
        } else if (!missing.isEmpty()) {
            notices.accept(missing + ": " + taken.kind() + " GPU");
        }
    }
}
