package io.framecast.api.spi;

import io.framecast.api.error.DeviceException;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/// One opened device: memory, streams and events, shaped by the CUDA driver API. A simple device implements
/// these; the methods with a default are for devices that do more: kernels, NICs that write into device memory,
/// and the capabilities that [#capability] hands out.
///
/// Threading: every method may be called from any thread; a [DeviceStream] is used by one thread at a time.
/// Ownership: a backend frees its allocations, one by one or all at once in [#close]. Closing while
/// copies run waits for them. Errors: a failed call throws [io.framecast.api.error.DeviceException] whose
/// line names the call, the code and how to fix it.
public interface DeviceBackend extends AutoCloseable {
    /// The device's name for reports and logs: `cuda:0`, `emulated:0`, `host`.
    String name();

    /// One line for a person: model, memory, driver.
    default String description() {
        return name();
    }

    /// Whether the host addresses device memory directly: then transports receive payloads in place and no
    /// copies are needed.
    boolean hostAddressable();

    /// Device memory, at least 256-byte aligned, zeroed or not.
    DeviceRegion allocate(long bytes);

    /// Frees device memory. Beside a [KernelSource#persistent] kernel, for whose end a device may wait before
    /// it frees anything, the memory is taken back later and counts as allocated until then; this returns at
    /// once.
    ///
    /// @throws IllegalArgumentException when this backend did not allocate the region, or freed it already
    void free(DeviceRegion region);

    /// Page-locked host memory from which asynchronous copies run at full speed.
    MemorySegment allocatePinned(long bytes);

    void freePinned(MemorySegment segment);

    /// Page-locks memory of another owner (a transport's receive ring), so that copies from it are asynchronous and
    /// need no bounce buffer. A no-op where it makes no difference.
    default void registerHost(final MemorySegment segment) {
        // Copies from any memory run alike.
    }

    /// Ends the registration by [#registerHost]. Waits for the copies from the memory, and on some devices for
    /// everything that runs there: a [KernelSource#persistent] kernel as well.
    default void unregisterHost(final MemorySegment segment) {
        // Nothing was registered.
    }

    /// As [#unregisterHost(MemorySegment)]; but beside a persistent kernel, for whose end a device may wait, it is done
    /// later, and this returns at once.
    ///
    /// @param afterwards gives the memory back, once the device has no more to do with it; on any thread
    default void unregisterHost(final MemorySegment segment, final Runnable afterwards) {
        try {
            unregisterHost(segment);
        } finally {
            afterwards.run();
        }
    }

    /// Makes a stream: work on one stream runs in order, streams run beside each other.
    DeviceStream openStream();

    /// Makes an event, complete until first recorded.
    DeviceEvent openEvent();

    /// Loads a kernel. Loading is eager: the first launch loads nothing.
    ///
    /// @throws DeviceException when this kind of device runs no kernels
    default DeviceKernel load(final KernelSource source) {
        throw new DeviceException(name() + ": this device runs no kernels, so it cannot load " + source.name()
                + "; take device=cuda:N or device=emulated");
    }

    /// Bytes of device memory allocated and not yet freed.
    long allocatedBytes();

    /// Copies many pieces at once on a stream of this device. May take milliseconds; never on the data path.
    default DeviceGather openGather(final DeviceStream stream) {
        return DeviceGather.byCopies(stream);
    }

    /// Live counts of resources that the device gave out and did not get back, beside [#allocatedBytes]; the same
    /// object every time. The default counts nothing.
    default DeviceResources resources() {
        return new DeviceResources();
    }

    /// Bytes of device memory that may still be allocated, as far as that is known; MAX_VALUE where it is
    /// not.
    default long availableBytes() {
        return Long.MAX_VALUE;
    }

    /// Whether work that was enqueued on a stream of this backend has not ended. Never waits; of a device that
    /// is closed or lost nothing runs.
    default boolean isBusy() {
        return false;
    }

    /// Whether a [KernelSource#persistent] kernel runs on the same device, whichever backend of this process
    /// launched it.
    default boolean runsPersistentKernel() {
        return false;
    }

    /// An optional capability of this device, named by its interface, such as `io.framecast.api.ArrivalRings`
    /// and `io.framecast.api.RequestQueues`. Interfaces are the names, so that a device and its users may agree
    /// on one that this package does not know.
    ///
    /// @return empty when the device lacks it
    default <T> Optional<T> capability(final Class<T> type) {
        return Optional.empty();
    }

    /// How a NIC and the CPU reach this device's memory beside its streams.
    default DeviceAccess access() {
        return DeviceAccess.NONE;
    }

    @Override
    void close();
}
