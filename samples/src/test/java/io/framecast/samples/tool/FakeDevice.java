package io.framecast.samples.tool;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceKernel;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.api.spi.KernelSource;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/// Device memory behind opaque addresses. Copies are queued and run at `synchronize`, so that a reader who does
/// not wait sees nothing; a copy without a wait for the frame's event is an error.
final class FakeDevice implements DeviceBackend {
    private final TreeMap<Long, MemorySegment> allocations = new TreeMap<>();
    private final Map<MemorySegment, Arena> pinned = new HashMap<>();
    private long nextAddress = 0x7000_0000_0000L;

    @Override
    public String name() {
        return "fake:0";
    }

    @Override
    public String description() {
        return "device of a test";
    }

    @Override
    public boolean hostAddressable() {
        return false;
    }

    @Override
    public synchronized DeviceRegion allocate(final long bytes) {
        final long address = nextAddress;
        nextAddress += (bytes + 511) / 256 * 256;
        allocations.put(address, Arena.ofAuto().allocate(bytes));
        return DeviceRegion.ofDevice(address, bytes);
    }

    synchronized MemorySegment memory(final long address, final long bytes) {
        final Map.Entry<Long, MemorySegment> entry = allocations.floorEntry(address);
        return entry.getValue().asSlice(address - entry.getKey(), bytes);
    }

    @Override
    public synchronized void free(final DeviceRegion region) {
        if (allocations.remove(region.address()) == null) {
            throw new IllegalArgumentException("not allocated here");
        }
    }

    @Override
    public synchronized MemorySegment allocatePinned(final long bytes) {
        final Arena arena = Arena.ofShared();
        final MemorySegment segment = arena.allocate(bytes);
        pinned.put(segment, arena);
        return segment;
    }

    @Override
    public synchronized void freePinned(final MemorySegment segment) {
        pinned.remove(segment).close();
    }

    synchronized int pinnedSegments() {
        return pinned.size();
    }

    @Override
    public void registerHost(final MemorySegment segment) {}

    @Override
    public void unregisterHost(final MemorySegment segment) {}

    @Override
    public DeviceStream openStream() {
        return new FakeStream(this);
    }

    @Override
    public DeviceEvent openEvent() {
        return new FakeEvent();
    }

    @Override
    public DeviceKernel load(final KernelSource source) {
        throw new UnsupportedOperationException("no kernels here");
    }

    @Override
    public synchronized long allocatedBytes() {
        return allocations.values().stream().mapToLong(MemorySegment::byteSize).sum();
    }

    @Override
    public void close() {}

    /// Complete from the start: frames are there when they are polled.
    static final class FakeEvent implements DeviceEvent {
        @Override
        public boolean isComplete() {
            return true;
        }

        @Override
        public void synchronize() {}

        @Override
        public void close() {}
    }
}
