package io.framecast.api.provider;

import io.framecast.api.EditDistance;
import io.framecast.api.error.ConfigException;
import io.framecast.api.spi.DeviceBackend;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.function.Function;
import java.util.stream.Stream;

/// Finds providers on the class path, and the provider that a name in a channel belongs to. A name that no
/// provider has is refused in one line with the nearest of those found.
public final class ProviderLookup {
    /// The word that leaves the choice to the node, for transports and devices alike.
    public static final String AUTO = "auto";

    private ProviderLookup() {}

    /// A device that a channel names.
    ///
    /// @param ordinal below [DeviceBackendProvider#deviceCount]
    /// @param mode one of [DeviceBackendProvider#modes]; empty for the usual one
    public record NamedDevice(DeviceBackendProvider provider, int ordinal, String mode) {
        public NamedDevice(final DeviceBackendProvider provider, final int ordinal) {
            this(provider, ordinal, "");
        }

        public DeviceBackend open() {
            return mode.isEmpty() ? provider.open(ordinal) : provider.open(ordinal, mode);
        }

        /// Kind and ordinal, such as `cuda:1`; the kind alone where it has one device.
        public String name() {
            return provider.naming() == DeviceBackendProvider.Naming.KIND
                    ? provider.kind()
                    : provider.kind() + ":" + ordinal;
        }

        /// See [DeviceBackendProvider#pciAddress].
        public Optional<String> pciAddress() {
            return provider.pciAddress(ordinal);
        }
    }

    /// The transports on the class path, best first.
    public static List<TransportProvider> transports() {
        return ServiceLoader.load(TransportProvider.class).stream()
                .map(ServiceLoader.Provider::get)
                .sorted(Comparator.comparingInt(TransportProvider::rank).reversed())
                .toList();
    }

    /// The kinds of devices on the class path, best first. Several providers may have one kind: the first
    /// counts.
    public static List<DeviceBackendProvider> devices() {
        return ServiceLoader.load(DeviceBackendProvider.class).stream()
                .map(ServiceLoader.Provider::get)
                .sorted(Comparator.comparingInt(DeviceBackendProvider::rank).reversed())
                .toList();
    }

    /// The transport of that name.
    ///
    /// @throws ConfigException when there is none among `found`
    public static TransportProvider transport(final List<TransportProvider> found, final String name) {
        return find(found, TransportProvider::name, "transport", name, "");
    }

    /// The provider of that kind of device.
    ///
    /// @throws ConfigException when there is none among `found`
    public static DeviceBackendProvider kind(final List<DeviceBackendProvider> found, final String kind) {
        return find(
                found,
                DeviceBackendProvider::kind,
                "device",
                kind,
                "; framecast-gpu-sink on the class path adds cuda and emulated");
    }

    /// The device that `device=` names, other than `auto`.
    ///
    /// @param device a kind, or a kind and an ordinal, and perhaps a mode: `host`, `cuda:1`, `emulated:0?peermem`
    /// @throws ConfigException when there is no such kind among `found`, it cannot be used on this machine, or
    ///     has fewer devices
    public static NamedDevice device(final List<DeviceBackendProvider> found, final String device) {
        final int question = device.indexOf('?');
        final String mode = question < 0 ? "" : device.substring(question + 1);
        final String plain = question < 0 ? device : device.substring(0, question);
        final int colon = plain.indexOf(':');
        final DeviceBackendProvider provider = kind(found, colon < 0 ? plain : plain.substring(0, colon));
        provider.naming().require(provider.kind(), device);
        provider.unavailable().ifPresent(reason -> {
            throw new ConfigException("device: " + device + " cannot be used here: " + reason
                    + "; fix that, or use device=auto, which takes a device that works");
        });
        final int ordinal = colon < 0 ? 0 : Integer.parseInt(plain.substring(colon + 1));
        if (ordinal >= provider.deviceCount()) {
            throw new ConfigException("device: expected " + provider.kind() + " below " + provider.deviceCount()
                    + ", got " + device + "; or use device=auto, which takes a device that works");
        }
        if (!mode.isEmpty() && !provider.modes().contains(mode)) {
            throw new ConfigException("device: expected " + provider.kind()
                    + (provider.modes().isEmpty() ? " without a mode" : " with a mode of " + provider.modes())
                    + ", got "
                    + device);
        }
        return new NamedDevice(provider, ordinal, mode);
    }

    private static <P> P find(
            final List<P> found,
            final Function<P, String> nameOf,
            final String key,
            final String name,
            final String hint) {
        return found.stream()
                .filter(candidate -> nameOf.apply(candidate).equals(name))
                .findFirst()
                .orElseThrow(() -> {
                    final List<String> names = Stream.concat(
                                    Stream.of(AUTO), found.stream().map(nameOf))
                            .distinct()
                            .toList();
                    return new ConfigException(key + ": no provider of " + name + " is on the class path, nearest is "
                            + EditDistance.nearest(name, names) + "; expected one of " + names + hint);
                });
    }
}
