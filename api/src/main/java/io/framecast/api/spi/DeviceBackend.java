package io.framecast.api.spi;

import io.framecast.api.Arrival;
import io.framecast.api.ArrivalOptions;
import io.framecast.api.DeviceRequests;
import io.framecast.api.error.DeviceException;
import java.lang.foreign.MemorySegment;

/// One opened device: memory, streams, events, copies, kernels. Shaped by the CUDA driver API.
///
/// Threading: every method may be called from any thread; a [DeviceStream] is used by one thread at a time.
/// Ownership: what a backend allocates is freed by it, one by one or all at once in [#close]. Closing while
/// copies run waits for them. Errors: a failed call throws [io.framecast.api.error.DeviceException] whose
/// line names the call, the code and the mend.
public interface DeviceBackend extends AutoCloseable {
    /// What ran, for output that must always say it: `cuda:0`, `emulated:0`, `host`.
    String name();

    /// One line for a person: model, memory, driver.
    String description();

    /// Whether the host addresses device memory directly: then payloads land in place and no copies are
    /// needed.
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

    /// Page-locks memory that somebody else owns (a transport's receive ring), so that copies from it are
    /// asynchronous and need no bounce buffer. A no-op where it makes no difference.
    void registerHost(MemorySegment segment);

    void unregisterHost(MemorySegment segment);

    /// Makes a stream: work on one stream runs in order, streams run beside each other.
    DeviceStream openStream();

    /// Makes an event, complete until first recorded.
    DeviceEvent openEvent();

    /// Loads a kernel. Loading is eager: nothing is left to be loaded at first launch.
    DeviceKernel load(KernelSource source);

    /// Bytes of device memory allocated and not yet freed.
    long allocatedBytes();

    /// Copies many pieces at once on a stream of this device. May take milliseconds; never on the data path.
    default DeviceGather openGather(final DeviceStream stream) {
        return DeviceGather.byCopies(stream);
    }

    /// What was given out and not got back, beside [#allocatedBytes]: live counts, the same object every time.
    /// A backend that counts nothing has none.
    default DeviceResources resources() {
        return new DeviceResources();
    }

    /// Bytes of device memory that may still be allocated, as far as that is known; MAX_VALUE where it is
    /// not.
    default long availableBytes() {
        return Long.MAX_VALUE;
    }

    /// Whether work that was enqueued on a stream of this backend has not ended. Never waits; of a device that is
    /// closed or lost nothing runs.
    default boolean isBusy() {
        return false;
    }

    /// Whether a [KernelSource#persistent] kernel runs on the same device, whichever backend of this process
    /// launched it.
    default boolean runsPersistentKernel() {
        return false;
    }

    /// Opens a ring through which frames reach a kernel that is already running.
    ///
    /// @throws io.framecast.api.error.DeviceException when this kind of device has no kernels that run beside
    ///     the host, or no memory is left
    default Arrival openArrival(final ArrivalOptions options) {
        throw new DeviceException(name() + ": has no kernels that wait for frames; take cuda or emulated");
    }

    /// Opens a queue through which kernels ask for device memory to be published.
    ///
    /// @param requestsMax requests not answered yet, at most; a power of two, 2 … 65536
    /// @throws io.framecast.api.error.DeviceException as [#openArrival]
    default DeviceRequests openRequests(final int requestsMax) {
        throw new DeviceException(name() + ": has no kernels that ask to publish; take cuda or emulated");
    }

    /// Ways into this device's memory beside its streams.
    default DeviceAccess access() {
        return DeviceAccess.NONE;
    }

    @Override
    void close();
}
