package io.framecast.engine.memory;

import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceKernel;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceResources;
import io.framecast.api.spi.DeviceResources.Kind;
import io.framecast.api.spi.DeviceStream;
import io.framecast.api.spi.KernelSource;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.agrona.CloseHelper;

/// Host memory as a device: addresses are virtual addresses, work runs at once in the thread that enqueues it,
/// events are always complete.
///
/// [#registerHost] makes other memory, such as a receive ring or a user's buffer, device memory: copies and
/// kernels may then name it by address.
final class HostBackend implements DeviceBackend {
    static final String NAME = "host";

    private static final long ALIGN_BYTES = 256;

    private final HostMemoryTable table = new HostMemoryTable();
    private final HostMemoryTable pinned = new HostMemoryTable();
    private final AtomicLong allocatedBytes = new AtomicLong();
    private final DeviceResources resources = new DeviceResources();
    private final LongSupplier available;
    private volatile boolean closed;

    HostBackend() {
        this(SystemMemory::availableBytes);
    }

    HostBackend(final LongSupplier available) {
        this.available = available;
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String description() {
        return "host memory, " + Runtime.getRuntime().availableProcessors() + " processors, "
                + System.getProperty("os.arch");
    }

    @Override
    public boolean hostAddressable() {
        return true;
    }

    @Override
    public DeviceRegion allocate(final long bytes) {
        final MemorySegment segment = allocateIn(table, bytes);
        allocatedBytes.addAndGet(bytes);
        resources.take(Kind.REGIONS, 1);
        return DeviceRegion.ofHost(segment);
    }

    @Override
    public void free(final DeviceRegion region) {
        allocatedBytes.addAndGet(-freeIn(table, region.address()));
        resources.give(Kind.REGIONS, 1);
    }

    @Override
    public MemorySegment allocatePinned(final long bytes) {
        final MemorySegment segment = allocateIn(pinned, bytes);
        resources.take(Kind.PINNED_BYTES, bytes);
        return segment;
    }

    @Override
    public void freePinned(final MemorySegment segment) {
        resources.give(Kind.PINNED_BYTES, freeIn(pinned, segment.address()));
    }

    private MemorySegment allocateIn(final HostMemoryTable owner, final long bytes) {
        requireOpen();
        if (bytes <= 0) {
            throw new IllegalArgumentException("host: expected bytes > 0, got " + bytes);
        }
        final Arena arena = Arena.ofShared();
        try {
            SystemMemory.require(bytes, available);
            final MemorySegment segment = arena.allocate(bytes, ALIGN_BYTES);
            owner.add(new HostMemoryTable.Range(segment, arena));
            return segment;
        } catch (final OutOfMemoryError e) {
            arena.close();
            throw new DeviceException(
                    "host: no room for " + bytes + " bytes; ask for less, free memory or raise -XX:MaxDirectMemorySize",
                    e);
        }
    }

    private static long freeIn(final HostMemoryTable owner, final long address) {
        final HostMemoryTable.Range range = owner.remove(address, true);
        if (range == null) {
            throw new IllegalArgumentException("host: expected memory that this device allocated and did not free");
        }
        CloseHelper.close(range.arena());
        return range.bytes();
    }

    @Override
    public void registerHost(final MemorySegment segment) {
        requireOpen();
        if (!segment.isNative()) {
            throw new IllegalArgumentException("host: expected native memory, got memory on the heap");
        }
        table.add(new HostMemoryTable.Range(segment, null));
        resources.take(Kind.REGISTRATIONS, 1);
    }

    @Override
    public void unregisterHost(final MemorySegment segment) {
        if (table.remove(segment.address(), false) == null) {
            throw new DeviceException("host: memory is not registered; unregister registered memory only");
        }
        resources.give(Kind.REGISTRATIONS, 1);
    }

    @Override
    public DeviceStream openStream() {
        requireOpen();
        resources.take(Kind.STREAMS, 1);
        return new HostStream(this, table);
    }

    @Override
    public DeviceEvent openEvent() {
        requireOpen();
        resources.take(Kind.EVENTS, 1);
        return new HostEvent(resources);
    }

    @Override
    public DeviceKernel load(final KernelSource source) {
        requireOpen();
        return new HostKernel(source.name(), source.emulation());
    }

    @Override
    public DeviceResources resources() {
        return resources;
    }

    @Override
    public long availableBytes() {
        return available.getAsLong();
    }

    @Override
    public long allocatedBytes() {
        return allocatedBytes.get();
    }

    void requireOpen() {
        if (closed) {
            throw new DeviceException("host: the device is closed; open another");
        }
    }

    @Override
    public void close() {
        closed = true;
        table.close();
        pinned.close();
        allocatedBytes.set(0);
        resources.close();
    }
}
