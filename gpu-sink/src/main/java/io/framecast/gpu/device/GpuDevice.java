package io.framecast.gpu.device;

import io.framecast.api.ArrivalRings;
import io.framecast.api.RequestQueues;
import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceResources;
import io.framecast.api.spi.DeviceSharing;
import io.framecast.gpu.arrival.FrameArrival;
import io.framecast.gpu.device.AllocationTable.Allocation;
import io.framecast.gpu.request.HostRequests;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/// The state that CUDA's and emulated devices keep alike: allocations, resources in use, whether the device is
/// open.
///
/// Threading: any thread.
public abstract class GpuDevice implements DeviceBackend {
    private final String name;
    private final AllocationTable table = new AllocationTable();
    private final AllocationTable imported = new AllocationTable();
    private final DeviceResources resources = new DeviceResources();
    private final AtomicBoolean closed = new AtomicBoolean();

    /// @param name as `device=` names it, with its ordinal
    protected GpuDevice(final String name) {
        this.name = name;
    }

    @Override
    public final String name() {
        return name;
    }

    @Override
    public final boolean hostAddressable() {
        return false;
    }

    @Override
    public final long allocatedBytes() {
        return table.totalBytes();
    }

    @Override
    public final DeviceResources resources() {
        return resources;
    }

    @Override
    public final <T> Optional<T> capability(final Class<T> type) {
        if (type == ArrivalRings.class) {
            final ArrivalRings rings = options -> new FrameArrival(this, options);
            return Optional.of(type.cast(rings));
        }
        if (type == RequestQueues.class) {
            final RequestQueues queues = requestsMax -> new HostRequests(this, requestsMax);
            return Optional.of(type.cast(queues));
        }
        return type == DeviceSharing.class ? Optional.of(type.cast(sharing())) : Optional.empty();
    }

    protected final AllocationTable table() {
        return table;
    }

    /// Memory of other processes that is open here.
    public final AllocationTable imported() {
        return imported;
    }

    /// The allocation or imported memory that contains an address; null when none does.
    protected final @Nullable Allocation find(final long address) {
        final Allocation own = table.find(address);
        return own == null ? imported.find(address) : own;
    }

    /// How other processes use this device's memory.
    protected abstract DeviceSharing sharing();

    /// @return whether this call closed the device
    protected final boolean markClosed() {
        return closed.compareAndSet(false, true);
    }

    protected final boolean isClosed() {
        return closed.get();
    }

    /// @throws DeviceException when the device is closed
    public final void requireOpen() {
        if (isClosed()) {
            throw new DeviceException(name + " is closed; open it again");
        }
    }

    protected final void requireLength(final String call, final long bytes) {
        if (bytes <= 0) {
            throw new IllegalArgumentException(name + ": " + call + " expects bytes > 0, got " + bytes);
        }
    }

    /// @throws IllegalArgumentException unless the region is one whole allocation of this device
    protected final void requireAllocated(final DeviceRegion region) {
        final @Nullable Allocation found = table.find(region.address());
        if (found == null || found.address() != region.address() || found.bytes() != region.bytes()) {
            throw new IllegalArgumentException(name + ": free of a region that is no allocation of this device");
        }
    }
}
