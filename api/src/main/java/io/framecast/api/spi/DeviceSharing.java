package io.framecast.api.spi;

import java.util.Optional;
import java.util.UUID;

/// Device memory that several processes of one host use: a capability ([DeviceBackend#capability]). One process
/// allocates it and passes its handle on. Other processes open it, and copy from it or read it in place.
///
/// The memory lives as long as the process that allocated it, and must not be freed before all other processes have
/// closed it: CUDA calls both undefined. The caller of this interface ensures the second, and watches for the
/// first.
///
/// Threading: any thread.
public interface DeviceSharing {
    /// Why no other process can use memory of this device; empty when one can.
    Optional<String> refusal();

    /// Which physical device this is, alike in all processes of the host: the UUID of a GPU.
    UUID identity();

    /// Why this device reaches no memory of another, for copies by this device; empty when it does. A device reaches
    /// its own memory.
    ///
    /// @param device as its [#identity] says
    Optional<String> reachRefusal(UUID device);

    /// Device memory that other processes may open: an allocation of the backend, which [DeviceBackend#free] frees.
    ///
    /// @return at least as long as asked for
    /// @throws io.framecast.api.error.DeviceException with one line that says how to fix it
    DeviceRegion allocate(long bytes);

    /// @param region from [#allocate], whole
    DeviceHandle handle(DeviceRegion region);

    /// Makes memory of another process, or of this one, accessible here: work on streams of this device may read it.
    ///
    /// @return the memory at this device's address, until [#close]
    /// @throws io.framecast.api.error.DeviceException when it cannot be opened, or its process is gone
    DeviceRegion open(DeviceHandle handle);

    /// Gives up memory that was opened, once no work here uses it any more.
    ///
    /// @param opened from [#open]
    /// @param afterwards runs when the memory may be freed by its owner: at once, or where closing would wait for a
    ///     [KernelSource#persistent] kernel, when that has ended
    void close(DeviceRegion opened, Runnable afterwards);
}
