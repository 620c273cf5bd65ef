package io.framecast.api;

/// The optional capability of a device to let its kernels ask for device memory to be published; see
/// [DeviceRequests]. Asked for with [io.framecast.api.spi.DeviceBackend#capability]; implemented by devices.
@FunctionalInterface
public interface RequestQueues {
    /// Opens a queue in memory of the device.
    ///
    /// @param requestsMax requests not answered yet, at most; a power of two, 2 … 65536
    /// @throws io.framecast.api.error.DeviceException when no memory is left
    DeviceRequests open(int requestsMax);
}
