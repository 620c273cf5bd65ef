package io.framecast.api.provider;

import io.framecast.api.error.ConfigException;
import io.framecast.api.spi.DeviceBackend;
import java.util.Optional;
import java.util.Set;

/// Found with `ServiceLoader`; one per kind of device. The kind belongs to the provider: a channel may use any
/// kind that a provider on the class path has.
public interface DeviceBackendProvider {
    /// How `device=` names a device of a kind.
    enum Naming {
        /// The kind alone: there is one device.
        KIND,
        /// The kind, or the kind and an ordinal; the kind alone means ordinal 0.
        KIND_OR_ORDINAL,
        /// The kind and an ordinal.
        ORDINAL;

        void require(final String kind, final String device) {
            final boolean numbered = device.indexOf(':') >= 0;
            if ((this == KIND && numbered) || (this == ORDINAL && !numbered)) {
                throw new ConfigException(
                        "device: expected " + kind + (this == ORDINAL ? ":N" : "") + ", got " + device);
            }
        }
    }

    /// The word in `device=`, such as `host` or `cuda`: 1 … 32 of `a-z`, `0-9` and `-`, a letter first, and
    /// not `auto`.
    String kind();

    default Naming naming() {
        return Naming.KIND_OR_ORDINAL;
    }

    /// Why no device of this kind can be used here, in a few words ("no CUDA driver"); empty when one can. Must
    /// not throw.
    Optional<String> unavailable();

    /// `device=auto` takes ordinal 0 of the available provider with the highest rank.
    int rank();

    /// Whether `device=auto` may take this kind. A kind that stands in for hardware answers false: it is taken
    /// only where a channel names it, alone or as `auto,KIND`.
    default boolean isAutomatic() {
        return true;
    }

    /// Devices of this kind on this machine; ordinals are 0 … count − 1.
    int deviceCount();

    /// Where a device is in this machine: its PCI function as Linux names it, `0000:3b:00.0`. Must not throw.
    ///
    /// @param ordinal below [#deviceCount]
    /// @return empty for a device that has none, or that does not tell
    default Optional<String> pciAddress(final int ordinal) {
        return Optional.empty();
    }

    /// Words that `device=KIND:N?MODE` may end with: other ways to be such a device.
    default Set<String> modes() {
        return Set.of();
    }

    /// Opens a device. Each call gives an independent backend with its own context and memory accounts.
    ///
    /// @throws io.framecast.api.error.DeviceException with one line that says how to fix it
    DeviceBackend open(int ordinal);

    /// Opens a device in a mode.
    ///
    /// @param mode one of [#modes]
    /// @throws io.framecast.api.error.DeviceException with one line that says how to fix it
    default DeviceBackend open(final int ordinal, final String mode) {
        throw new UnsupportedOperationException(kind() + " has no mode " + mode);
    }
}
