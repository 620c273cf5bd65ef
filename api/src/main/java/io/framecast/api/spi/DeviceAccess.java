package io.framecast.api.spi;

import io.framecast.api.error.DeviceException;
import java.util.Optional;

/// Access to a device's memory beside its own copy engine: a NIC that writes there, and a mapping that
/// the CPU stores through. The engine probes both when a subscriber chooses its placement; a refusal names its
/// reason in a few words.
///
/// Threading: any thread.
public interface DeviceAccess {
    /// A device with neither.
    DeviceAccess NONE = new DeviceAccess() {};

    /// Why no NIC can write into this device's memory; empty when one can.
    default Optional<String> exportRefusal() {
        return Optional.of("this device has no memory that a NIC can write");
    }

    /// Lets a NIC write into an allocation, whole.
    ///
    /// @param region an allocation of this device's
    /// @return the same memory, with a dma-buf descriptor; or without one where the NIC's driver knows device
    ///     addresses (nvidia-peermem). Until [#unexport]
    /// @throws DeviceException with one line that says how to fix it
    default DeviceRegion export(final DeviceRegion region) {
        throw new DeviceException("export: " + exportRefusal().orElse("not supported"));
    }

    /// Looks up the allocation in which a user's region lies.
    ///
    /// @return the same memory, with its allocation where the device knows it
    /// @throws IllegalArgumentException when it is no memory of this device, or is freed
    default DeviceRegion identify(final DeviceRegion region) {
        return region;
    }

    /// Ends an export: closes its descriptor. Before the memory is freed, and after the NIC has let go of it.
    default void unexport(final DeviceRegion region) {
        // Nothing was exported.
    }

    /// Returns when writes of NICs, as far as their completions were seen, are visible to work that starts on the
    /// device from now on. Does nothing where the device orders such writes by itself.
    default void flushRemoteWrites() {
        // A device without remote access has no remote writes.
    }

    /// Why the CPU cannot store into this device's memory; empty when it can.
    default Optional<String> mappingRefusal() {
        return Optional.of("this device has no memory that the CPU can map");
    }

    /// Maps an allocation, whole, for the CPU.
    ///
    /// @param region an allocation of this device's
    /// @throws DeviceException with one line that says how to fix it
    default DeviceMapping map(final DeviceRegion region) {
        throw new DeviceException("map: " + mappingRefusal().orElse("not supported"));
    }
}
