package io.framecast.api.spi;

import java.util.Optional;

/// Found with `ServiceLoader`; one per kind of device.
public interface DeviceBackendProvider {
    /// The word in `device=`: `host`, `emulated`, `cuda`.
    String kind();

    /// Why no device of this kind can be used here, in a few words ("no CUDA driver"); empty when one can. Must
    /// not throw.
    Optional<String> unavailable();

    /// `device=auto` takes the available provider with the highest rank, but none of kind `emulated`: that is for
    /// `auto,emulated`.
    int rank();

    /// Devices of this kind on this machine; ordinals are 0 … count − 1.
    int deviceCount();

    /// Opens a device. Each call gives an independent backend with its own context and memory accounts.
    ///
    /// @throws io.framecast.api.error.DeviceException with one line that names the mend
    DeviceBackend open(int ordinal);
}
