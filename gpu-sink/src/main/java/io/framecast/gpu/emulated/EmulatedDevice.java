package io.framecast.gpu.emulated;

import io.framecast.api.error.DeviceException;
import io.framecast.api.provider.ScopedLock;
import io.framecast.api.spi.DeviceAccess;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceGather;
import io.framecast.api.spi.DeviceKernel;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceResources.Kind;
import io.framecast.api.spi.DeviceSharing;
import io.framecast.api.spi.DeviceStream;
import io.framecast.api.spi.KernelSource;
import io.framecast.gpu.device.AllocationTable;
import io.framecast.gpu.device.AllocationTable.Allocation;
import io.framecast.gpu.device.DeferredFrees;
import io.framecast.gpu.device.GpuDevice;
import io.framecast.gpu.device.HostBounds;
import io.framecast.gpu.device.KernelGather;
import io.framecast.gpu.device.ResidentGrid;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// A GPU in software. Device addresses are numbers that no host pointer can be, are never given out twice and
/// keep a distance from each other: reading through one crashes, overruns and use after free are refused.
///
/// Copies and kernels run on a daemon thread `framecast-emulated-N`. An error that a GPU would find while it works is
/// thrown from the call where possible. An error that only the thread can find (a kernel out of bounds) breaks the
/// device, as on a GPU.
public final class EmulatedDevice extends GpuDevice {
    // Bit 62 set and bit 63 clear is no address on any 64-bit CPU; 2^48 numbers for each device ever opened.
    private static final long ADDRESS_BASE = 1L << 62;
    private static final int DEVICE_SHIFT = 48;
    private static final int DEVICES_MASK = 0x3ff;
    private static final AtomicInteger OPENED = new AtomicInteger();

    private static final long ALIGNMENT_BYTES = 4096;
    private static final long GUARD_BYTES = 64 << 10;
    private static final long PAGE_BYTES = 4096;
    // Timings here mean nothing for a GPU, so the kernel runs early: that tests it.
    private static final int GATHER_PIECES_MIN = 2;

    // Kernels see allocations of any backend of the same GPU, as in CUDA, where backends share the primary context.
    private static final List<EmulatedDevice> OPEN = new CopyOnWriteArrayList<>();
    // To count the blocks of persistent kernels and to add to them is one step.
    private static final ScopedLock RESIDENCE = new ScopedLock();

    private final int ordinal;
    private final EmulatedConfig config;
    private final DmaThread dma;
    // Pinned host memory: kernels reach it at the host's address.
    private final AllocationTable pinned = new AllocationTable();
    private final DeferredFrees deferred = new DeferredFrees();

    private final Map<Long, Arena> arenas = new ConcurrentHashMap<>();
    private final Map<Long, SharedMemory> shared = new ConcurrentHashMap<>();
    private final Set<Long> registered = ConcurrentHashMap.newKeySet();
    // To look for room and to take it is one step.
    private final ScopedLock lock = new ScopedLock();
    private long nextAddress = ADDRESS_BASE | (long) (OPENED.getAndIncrement() & DEVICES_MASK) << DEVICE_SHIFT;

    public EmulatedDevice(final int ordinal, final EmulatedConfig config) {
        super("emulated:" + ordinal);
        this.ordinal = ordinal;
        this.config = config;
        this.dma = new DmaThread(name(), ordinal, config, this::at);
        dma.start();
        OPEN.add(this);
    }

    @Override
    public String description() {
        final String link = config.link().toDeviceBytesPerSecond() == EmulatedConfig.UNLIMITED
                ? "unlimited link"
                : config.link().toDeviceBytesPerSecond() / 1_000_000 + " MB/s link";
        return "emulated GPU, " + (config.memoryBytes() >> 20) + " MiB, " + link + ", runs on the CPU";
    }

    @Override
    public DeviceRegion allocate(final long bytes) {
        return allocate(bytes, config.nics() == EmulatedConfig.Nics.BY_DESCRIPTOR);
    }

    /// @param sharable whether other processes may map it
    DeviceRegion allocate(final long bytes, final boolean sharable) {
        checkUsable();
        requireLength("allocate", bytes);
        deferred.flush(dma.hasKernels());
        try (ScopedLock.Scope _ = lock.hold()) {
            final long freeBytes = config.memoryBytes() - table().totalBytes();
            if (bytes > freeBytes) {
                throw new DeviceException(name() + ": out of memory, " + bytes + " bytes asked, " + freeBytes + " of "
                        + config.memoryBytes() + " free; lower window or frame-max");
            }
            final Arena arena = Arena.ofShared();
            final SharedMemory memory = sharable ? SharedMemory.allocate(arena, bytes) : null;
            final MemorySegment backing =
                    memory == null ? HostMemory.allocate(arena, bytes, PAGE_BYTES) : memory.segment();
            final long address =
                    config.nics() == EmulatedConfig.Nics.BY_ADDRESS ? backing.address() : nextAddress(bytes);
            if (memory != null) {
                shared.put(address, memory);
            }
            arenas.put(address, arena);
            table().add(new Allocation(address, bytes, backing));
            resources().take(Kind.REGIONS, 1);
            return DeviceRegion.ofDevice(address, bytes);
        }
    }

    // Under the lock.
    private long nextAddress(final long bytes) {
        final long address = nextAddress;
        nextAddress += (bytes + ALIGNMENT_BYTES - 1 & -ALIGNMENT_BYTES) + GUARD_BYTES;
        return address;
    }

    /// The shared memory of an allocation.
    ///
    /// @throws DeviceException unless the region is one whole allocation of a device that exports
    SharedMemory shared(final DeviceRegion region) {
        final SharedMemory found = shared.get(region.address());
        if (found == null || found.segment().byteSize() != region.bytes()) {
            throw new DeviceException(name() + ": export of " + region.bytes()
                    + " bytes that are no allocation of a device that exports");
        }
        return found;
    }

    /// The allocation or imported memory that holds an address; null when none does.
    @Nullable
    Allocation allocation(final long address) {
        return find(address);
    }

    /// Gives memory of another process an address here.
    DeviceRegion adopt(final Arena arena, final MemorySegment memory) {
        try (ScopedLock.Scope _ = lock.hold()) {
            final long address = nextAddress(memory.byteSize());
            arenas.put(address, arena);
            imported().add(new Allocation(address, memory.byteSize(), memory));
            resources().take(Kind.IMPORTS, 1);
            return DeviceRegion.ofDevice(address, memory.byteSize());
        }
    }

    /// Takes the address back, behind the work enqueued so far; beside a persistent kernel later.
    void disown(final DeviceRegion region, final Runnable afterwards) {
        requireOpen();
        deferred.free(dma.hasKernels(), region.address(), () -> {
            dma.drain();
            if (imported().remove(region.address(), region.bytes()) == null) {
                throw new IllegalArgumentException(name() + ": close of memory that was not opened");
            }
            closeArena(region.address());
            resources().give(Kind.IMPORTS, 1);
            afterwards.run();
        });
    }

    @Override
    protected DeviceSharing sharing() {
        return new EmulatedSharing(this, ordinal);
    }

    /// Waits for the work enqueued so far, as cuMemFree does: it might use the memory. Beside a persistent
    /// kernel it frees later.
    @Override
    public void free(final DeviceRegion region) {
        requireOpen();
        requireAllocated(region);
        deferred.free(dma.hasKernels(), region.address(), () -> {
            // Before it leaves the table: a kernel enqueued before may still resolve addresses in it.
            dma.drain();
            table().remove(region.address(), region.bytes());
            closeArena(region.address());
            resources().give(Kind.REGIONS, 1);
        });
    }

    @Override
    public MemorySegment allocatePinned(final long bytes) {
        checkUsable();
        requireLength("allocatePinned", bytes);
        final Arena arena = Arena.ofShared();
        final MemorySegment segment = HostMemory.allocate(arena, bytes, PAGE_BYTES);
        arenas.put(segment.address(), arena);
        pinned.add(new Allocation(segment.address(), bytes, segment));
        resources().take(Kind.PINNED_BYTES, bytes);
        return segment;
    }

    @Override
    public void freePinned(final MemorySegment segment) {
        requireOpen();
        deferred.free(dma.hasKernels(), segment.address(), () -> {
            dma.drain();
            pinned.remove(segment.address(), segment.byteSize());
            closeArena(segment.address());
            resources().give(Kind.PINNED_BYTES, segment.byteSize());
        });
    }

    /// Changes nothing here, but keeps the books as strictly as CUDA does.
    @Override
    public void registerHost(final MemorySegment segment) {
        checkUsable();
        HostBounds.check(name(), segment, 0, segment.byteSize());
        if (!registered.add(segment.address())) {
            throw new DeviceException(name() + ": host memory is registered already; register it once");
        }
        resources().take(Kind.REGISTRATIONS, 1);
    }

    @Override
    public void unregisterHost(final MemorySegment segment) {
        requireOpen();
        if (!registered.remove(segment.address())) {
            throw new DeviceException(name() + ": host memory is not registered; unregister registered memory only");
        }
        resources().give(Kind.REGISTRATIONS, 1);
    }

    @Override
    public DeviceStream openStream() {
        checkUsable();
        final EmulatedStream stream = new EmulatedStream(this, dma.openRing(config.streamCommandsMax()));
        resources().take(Kind.STREAMS, 1);
        return stream;
    }

    @Override
    public DeviceEvent openEvent() {
        checkUsable();
        resources().take(Kind.EVENTS, 1);
        return new EmulatedEvent(this);
    }

    @Override
    public DeviceKernel load(final KernelSource source) {
        checkUsable();
        return new EmulatedKernel(this, source.name(), source.emulation(), source.persistent());
    }

    @Override
    public DeviceGather openGather(final DeviceStream stream) {
        return KernelGather.of(this, stream, dma::hasKernels, GATHER_PIECES_MIN);
    }

    @Override
    public boolean isBusy() {
        return !isClosed() && dma.isBusy();
    }

    @Override
    public boolean runsPersistentKernel() {
        return OPEN.stream().anyMatch(other -> other.ordinal == ordinal && other.dma.residentBlocks() > 0);
    }

    @Override
    public long availableBytes() {
        return config.memoryBytes() - table().totalBytes();
    }

    @Override
    public void close() {
        if (!markClosed()) {
            return;
        }
        OPEN.remove(this);
        dma.close();
        deferred.clear();
        table().clear();
        imported().clear();
        pinned.clear();
        arenas.keySet().forEach(address -> {
            final @Nullable Arena arena = arenas.remove(address);
            if (arena != null) {
                arena.close();
            }
        });
        registered.clear();
        resources().close();
    }

    @Override
    public DeviceAccess access() {
        return new EmulatedAccess(this);
    }

    DmaThread dma() {
        return dma;
    }

    EmulatedConfig config() {
        return config;
    }

    /// Takes room for a persistent kernel that is to be enqueued on a stream; given back where it ends.
    ///
    /// @throws DeviceException when its blocks do not fit beside those of other kernels
    void reside(final CommandRing ring, final String kernel, final int gridBlocks, final int blockThreads) {
        final ResidentGrid grid = new ResidentGrid(kernel, gridBlocks, blockThreads, config.residentBlocks(), 1);
        try (ScopedLock.Scope _ = RESIDENCE.hold()) {
            // Kernels on the same stream run one behind the other.
            long taken = -ring.residentBlocks();
            for (final EmulatedDevice other : OPEN) {
                taken += other.ordinal == ordinal ? other.dma.residentBlocks() : 0;
            }
            grid.check(name(), taken);
            ring.addResident(gridBlocks);
        }
    }

    /// The allocation that holds all of a range.
    ///
    /// @throws DeviceException when none does
    Allocation resolve(final String call, final long address, final long bytes) {
        final @Nullable Allocation found = find(address);
        if (found == null || !found.holds(address, bytes)) {
            throw new DeviceException(name() + ": " + call + " of " + bytes + " bytes at 0x" + Long.toHexString(address)
                    + " leaves the memory allocated here; check address and length");
        }
        return found;
    }

    /// Throws when the device is closed or broken.
    void checkUsable() {
        final String failure = dma.failure();
        if (failure != null) {
            throw new DeviceException(failure);
        }
        requireOpen();
    }

    private MemorySegment at(final long address, final long bytes) {
        Allocation allocation = locate(address, bytes);
        if (allocation == null) {
            for (final EmulatedDevice other : OPEN) {
                allocation = allocation == null && other.ordinal == ordinal ? other.locate(address, bytes) : allocation;
            }
        }
        final Allocation found = allocation == null ? resolve("kernel access", address, bytes) : allocation;
        return found.backing().asSlice(address - found.address(), bytes);
    }

    private @Nullable Allocation locate(final long address, final long bytes) {
        final Allocation device = find(address);
        if (device != null && device.holds(address, bytes)) {
            return device;
        }
        final Allocation host = pinned.find(address);
        return host != null && host.holds(address, bytes) ? host : null;
    }

    private void closeArena(final long address) {
        final @Nullable Arena arena = arenas.remove(address);
        shared.remove(address);
        if (arena == null) {
            throw new IllegalArgumentException(name() + ": free of memory that is no allocation of this device");
        }
        arena.close();
    }
}
