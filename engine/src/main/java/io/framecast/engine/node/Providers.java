package io.framecast.engine.node;

import io.framecast.api.Channel;
import io.framecast.api.error.ConfigException;
import io.framecast.api.provider.DeviceBackendProvider;
import io.framecast.api.provider.ProviderLookup;
import io.framecast.api.provider.ProviderLookup.NamedDevice;
import io.framecast.api.provider.TransportConfig;
import io.framecast.api.provider.TransportProvider;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.Transport;
import io.framecast.engine.hostgroup.DeviceUse;
import io.framecast.engine.port.SharedTransport;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// Chooses transports and devices among the providers that `ServiceLoader` finds, and reports its choice.
/// Providers own their names: nothing here names a transport or a device but `host`, the engine's own.
final class Providers {
    private static final String AUTO_OR = ProviderLookup.AUTO + ",";
    private static final String HOST = "host";

    private final Consumer<String> notices;
    private final List<TransportProvider> transports;
    private final List<DeviceBackendProvider> devices;
    private final Map<String, String> environment;
    // Transports whose choice was reported: a host group opens them again for each warm-up.
    private final Set<String> reported = ConcurrentHashMap.newKeySet();

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
        if (reported.add(provider.name())) {
            notices.accept("transport: " + provider.name());
        }
        return new SharedTransport(transport, channel.link().oneSided());
    }

    private TransportProvider bestTransport(final Channel channel) {
        return transports.stream()
                .filter(provider -> provider.carries(channel)
                        && provider.unavailable(channel).isEmpty())
                .findFirst()
                .orElseThrow(() -> new ConfigException("transport: none is available on this machine for " + channel));
    }

    /// A device that was chosen, and is not opened.
    ///
    /// @param use by which other members of the host group count it; null outside one, and for host memory
    /// @param origin why this one, as the end of a sentence; empty where there is nothing to say
    record Choice(NamedDevice device, @Nullable DeviceUse use, String origin) {}

    /// Opens the device of a channel's `device=`.
    DeviceBackend openDevice(final String device) {
        return choose(device, null).device().open();
    }

    /// Chooses the device of a channel's `device=`.
    ///
    /// @param group channel of the host group whose members share the GPUs; null for none
    Choice choose(final String device, final @Nullable Channel group) {
        if (device.equals(ProviderLookup.AUTO)) {
            return auto("", group);
        }
        if (device.startsWith(AUTO_OR)) {
            return auto(
                    ProviderLookup.kind(devices, device.substring(AUTO_OR.length()))
                            .kind(),
                    group);
        }
        return counted(ProviderLookup.device(devices, device), group, "");
    }

    // Other members of the group must see that it is used.
    private static Choice counted(final NamedDevice device, final @Nullable Channel group, final String origin) {
        final DeviceUse use = group == null || device.provider().kind().equals(HOST)
                ? null
                : DeviceUse.take(group, List.of(identity(device)));
        return new Choice(device, use, origin);
    }

    // Ordinals differ where processes see different GPUs.
    private static String identity(final NamedDevice device) {
        return device.pciAddress().orElse(device.name());
    }

    // Only a user that asks for a stand-in's kind gets it: other users would take it for hardware.
    private Choice auto(final String standIn, final @Nullable Channel group) {
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
            final Choice choice =
                    rank.origin().isEmpty() && group != null && !provider.kind().equals(HOST)
                            ? leastUsed(provider, group)
                            : ranked(provider, rank, group);
            reportAuto(provider, missing, choice);
            return choice;
        }
        throw new ConfigException("device: none is available on this machine");
    }

    private static Choice ranked(
            final DeviceBackendProvider provider, final LocalRank rank, final @Nullable Channel group) {
        // Launchers often show a process its own GPU alone.
        final int ordinal = rank.number() == 0 ? 0 : rank.number() % Math.max(1, provider.deviceCount());
        return counted(new NamedDevice(provider, ordinal), group, rank.origin());
    }

    private static Choice leastUsed(final DeviceBackendProvider provider, final Channel group) {
        final List<NamedDevice> found = IntStream.range(0, Math.max(1, provider.deviceCount()))
                .mapToObj(ordinal -> new NamedDevice(provider, ordinal))
                .toList();
        final DeviceUse use =
                DeviceUse.take(group, found.stream().map(Providers::identity).toList());
        final String origin = " (least used of the host group, others: " + use.others() + ")";
        return new Choice(found.get(use.index()), use, origin);
    }

    private void reportAuto(final DeviceBackendProvider taken, final String missing, final Choice choice) {
        if (taken.kind().equals(HOST)) {
            notices.accept("device auto: host memory, for there is no GPU ("
                    + (missing.isEmpty() ? "framecast-gpu-sink is not on the class path" : missing)
                    + "); device=auto,emulated takes an emulated one");
        } else if (taken.isAutomatic()) {
            notices.accept(
                    "device auto: " + taken.kind() + ":" + choice.device().ordinal() + choice.origin());
        } else if (!missing.isEmpty()) {
            final String number =
                    choice.origin().isEmpty() ? "" : " " + choice.device().ordinal() + choice.origin();
            notices.accept(missing + ": " + taken.kind() + " GPU" + number);
        }
    }
}
