package io.framecast.engine.spi;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceKernel;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;

/// A minimal implementation of the SPI: memory at addresses of its own that the host cannot use, streams whose
/// work is complete when a call returns, and events.
final class TestDevice implements DeviceBackend {
    private static final long FIRST_ADDRESS = 1L << 40;

    private final Arena arena = Arena.ofShared();
    private final ConcurrentSkipListMap<Long, MemorySegment> memory = new ConcurrentSkipListMap<>();

    @Override
    public String name() {
        return "test:0";
    }

    @Override
    public boolean hostAddressable() {
        return false;
    }

    @Override
    public synchronized DeviceRegion allocate(final long bytes) {
        final Map.Entry<Long, MemorySegment> last = memory.lastEntry();
        final long end =
                last == null ? FIRST_ADDRESS : last.getKey() + last.getValue().byteSize();
        final long address = (end + 4095) & -4096;
        memory.put(address, arena.allocate(bytes, 64));
        return DeviceRegion.ofDevice(address, bytes);
    }

    @Override
    public void free(final DeviceRegion region) {
        memory.remove(region.address());
    }

    @Override
    public MemorySegment allocatePinned(final long bytes) {
        return arena.allocate(bytes, 64);
    }

    @Override
    public void freePinned(final MemorySegment segment) {
        // The arena frees it.
    }

    @Override
    public DeviceStream openStream() {
        return new Stream();
    }

    @Override
    public DeviceEvent openEvent() {
        return new Event();
    }

    @Override
    public long allocatedBytes() {
        return memory.values().stream().mapToLong(MemorySegment::byteSize).sum();
    }

    @Override
    public void close() {
        memory.clear();
        arena.close();
    }

    private MemorySegment at(final long address, final long bytes) {
        final Map.Entry<Long, MemorySegment> allocation = memory.floorEntry(address);
        return allocation.getValue().asSlice(address - allocation.getKey(), bytes);
    }

    private static final class Event implements DeviceEvent {
        @Override
        public boolean isComplete() {
            return true;
        }

        @Override
        public void synchronize() {
            // Streams have done their work.
        }

        @Override
        public void close() {
            // Nothing is held.
        }
    }

    private final class Stream implements DeviceStream {
        @Override
        public void copyToDevice(
                final long deviceAddress, final MemorySegment source, final long sourceOffset, final long bytes) {
            at(deviceAddress, bytes).copyFrom(source.asSlice(sourceOffset, bytes));
        }

        @Override
        public void copyToHost(
                final MemorySegment target, final long targetOffset, final long deviceAddress, final long bytes) {
            target.asSlice(targetOffset, bytes).copyFrom(at(deviceAddress, bytes));
        }

        @Override
        public void copyWithin(final long targetAddress, final long sourceAddress, final long bytes) {
            at(targetAddress, bytes).copyFrom(at(sourceAddress, bytes));
        }

        @Override
        public void fill(final long deviceAddress, final byte value, final long bytes) {
            at(deviceAddress, bytes).fill(value);
        }

        @Override
        public void record(final DeviceEvent event) {
            // Complete already.
        }

        @Override
        public void await(final DeviceEvent event) {
            // Complete already.
        }

        @Override
        public void launch(
                final DeviceKernel kernel, final int gridBlocks, final int blockThreads, final long... arguments) {
            throw new UnsupportedOperationException("this device loads no kernels");
        }

        @Override
        public void synchronize() {
            // Nothing waits.
        }

        @Override
        public void close() {
            // Nothing is held.
        }
    }
}
