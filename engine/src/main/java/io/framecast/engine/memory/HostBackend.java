package io.framecast.engine.memory;

import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceKernel;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.api.spi.KernelSource;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// The host as a device: memory is host memory, streams work at once in the caller's thread, events are always
/// complete.
public final class HostBackend implements DeviceBackend {
    private static final long ALIGNMENT = 256;

    private final Map<Long, Allocation> allocations = new ConcurrentHashMap<>();

    /// One allocation and the arena that frees it.
    private record Allocation(Arena arena, MemorySegment segment) {}

    @Override
    public String name() {
        return "host";
    }

    @Override
    public String description() {
        return "host memory, " + Runtime.getRuntime().availableProcessors() + " processors";
    }

    @Override
    public boolean hostAddressable() {
        return true;
    }

    @Override
    public DeviceRegion allocate(final long bytes) {
        return DeviceRegion.ofHost(allocatePinned(bytes));
    }

    @Override
    public void free(final DeviceRegion region) {
        release(region.address());
    }

    @Override
    public MemorySegment allocatePinned(final long bytes) {
        final Arena arena = Arena.ofShared();
        try {
            final MemorySegment segment = arena.allocate(bytes, ALIGNMENT);
            allocations.put(segment.address(), new Allocation(arena, segment));
            return segment;
        } catch (final OutOfMemoryError e) {
            arena.close();
            throw new DeviceException("host: " + bytes + " bytes cannot be allocated; lower ring= or frame-max=", e);
        }
    }

    @Override
    public void freePinned(final MemorySegment segment) {
        release(segment.address());
    }

    private void release(final long address) {
        final Allocation allocation = allocations.remove(address);
        if (allocation == null) {
            throw new IllegalArgumentException("host: no allocation at 0x" + Long.toHexString(address));
        }
        allocation.arena().close();
    }

    @Override
    public void registerHost(final MemorySegment segment) {
        // Nothing to pin: no device reads host memory behind the processor's back.
    }

    @Override
    public void unregisterHost(final MemorySegment segment) {
        // See registerHost.
    }

    @Override
    public DeviceStream openStream() {
        return new HostStream();
    }

    @Override
    public DeviceEvent openEvent() {
        return HostStream.COMPLETE;
    }

    @Override
    public DeviceKernel load(final KernelSource source) {
        return new HostStream.HostKernel(source);
    }

    @Override
    public long allocatedBytes() {
        return allocations.values().stream()
                .mapToLong(allocation -> allocation.segment().byteSize())
                .sum();
    }

    @Override
    public void close() {
        allocations.keySet().forEach(this::release);
    }
}
