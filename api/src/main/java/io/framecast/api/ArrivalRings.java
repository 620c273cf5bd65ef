package io.framecast.api;

/// The optional capability of a device to let kernels that are already running wait for frames; see [Arrival].
/// Asked for with [io.framecast.api.spi.DeviceBackend#capability]; implemented by devices.
@FunctionalInterface
public interface ArrivalRings {
    /// Opens a ring in memory of the device.
    ///
    /// @throws io.framecast.api.error.DeviceException when no memory is left
    Arrival open(ArrivalOptions options);
}
