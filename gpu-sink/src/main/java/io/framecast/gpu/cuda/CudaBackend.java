package io.framecast.gpu.cuda;

import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceAccess;
import io.framecast.api.spi.DeviceGather;
import io.framecast.api.spi.DeviceKernel;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceResources.Kind;
import io.framecast.api.spi.DeviceSharing;
import io.framecast.api.spi.DeviceStream;
import io.framecast.api.spi.KernelSource;
import io.framecast.gpu.device.AllocationTable.Allocation;
import io.framecast.gpu.device.DeferredFrees;
import io.framecast.gpu.device.GpuDevice;
import io.framecast.gpu.device.HostBounds;
import io.framecast.gpu.device.KernelGather;
import io.framecast.gpu.device.ResidentGrid;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import jcuda.driver.CUdevice;
import jcuda.driver.CUfunction_attribute;
import jcuda.driver.CUmodule;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;
import org.jspecify.annotations.Nullable;

/// One NVIDIA GPU through the CUDA driver API: set-up and teardown through JCuda, calls for each copy
/// through the downcalls of [CudaCalls], which gives the reason.
///
/// The context is the device's primary one, which every CUDA user of the process shares, so that memory made
/// here is good for other libraries too; memory, streams and events are counted per backend. Each call is made
/// in it and leaves the caller's own context as it was ([CudaContext]).
///
/// A kernel that leaves its memory breaks the primary context for the whole process; every later call says
/// so.
final class CudaBackend extends GpuDevice {
    private static final int PORTABLE = JCudaDriver.CU_MEMHOSTALLOC_PORTABLE;
    // CU_MEMHOSTREGISTER_READ_ONLY, which JCuda lacks: the device may only read it, and not every one knows that.
    private static final int READ_ONLY = 8;

    private final CudaProperties properties;
    private final CudaContext context;
    private final PersistentLaunches kernels;
    private final CudaFrees frees;
    private final List<Loaded> loaded = new CopyOnWriteArrayList<>();
    private final CudaAccess access;
    private final CudaSharing sharing;
    private final CudaStreams streams;

    // Any thread adds and removes; the thread that removes an object from its collection destroys it.
    private final Map<Long, CudaHandles.DevicePointer> pointers = new ConcurrentHashMap<>();
    private final Map<Long, Pinned> pinned = new ConcurrentHashMap<>();
    private final Set<Long> registered = ConcurrentHashMap.newKeySet();
    private final Set<CudaEvent> events = ConcurrentHashMap.newKeySet();
    private final Queue<CUmodule> modules = new ConcurrentLinkedQueue<>();

    /// @param life ends the segment's life with the memory's: a later access throws instead of crashing
    private record Pinned(long address, long bytes, Arena life) {}

    private record Loaded(byte[] ptx, CudaKernel kernel) {}

    /// @param ordinal below [CudaDriver#deviceCount]
    CudaBackend(final int ordinal) {
        super("cuda:" + ordinal);
        kernels = PersistentLaunches.of(name());
        frees = new CudaFrees(this, kernels);
        final CUdevice device = new CUdevice();
        CudaErrors.check("cuDeviceGet", JCudaDriver.cuDeviceGet(device, ordinal));
        properties = new CudaProperties(device);
        context = new CudaContext(device);
        streams = new CudaStreams(context, kernels, resources());
        access = new CudaAccess(this);
        sharing = new CudaSharing(this, ordinal);
    }

    CudaProperties properties() {
        return properties;
    }

    @Override
    public DeviceAccess access() {
        return access;
    }

    @Override
    protected DeviceSharing sharing() {
        return sharing;
    }

    /// Whether a region is one whole allocation of this backend, not freed yet.
    boolean owns(final DeviceRegion region) {
        final @Nullable Allocation found = table().find(region.address());
        return found != null && found.address() == region.address() && found.bytes() == region.bytes();
    }

    /// Runs it now, or when no persistent kernel runs.
    void whenNoKernelRuns(final Runnable task) {
        kernels.whenNoneRuns(task);
    }

    @Override
    public String description() {
        return properties.description();
    }

    @Override
    public DeviceRegion allocate(final long bytes) {
        requireLength("allocate", bytes);
        final long again = frees.flush(frees.device(), bytes);
        if (again != DeferredFrees.NONE) {
            return DeviceRegion.ofDevice(again, bytes);
        }
        final var pointer = new CudaHandles.DevicePointer();
        try (CudaContext.Visit _ = visit()) {
            CudaErrors.check("cuMemAlloc", JCudaDriver.cuMemAlloc(pointer, bytes));
        }
        pointers.put(pointer.value(), pointer);
        table().add(new Allocation(pointer.value(), bytes, MemorySegment.NULL));
        resources().take(Kind.REGIONS, 1);
        return DeviceRegion.ofDevice(pointer.value(), bytes);
    }

    /// Waits for the work enqueued so far: cuMemFree does. Beside a persistent kernel it frees later.
    @Override
    public void free(final DeviceRegion region) {
        requireOpen();
        requireAllocated(region);
        frees.free(frees.device(), region.address(), region.bytes(), () -> freeNow(region));
    }

    private void freeNow(final DeviceRegion region) {
        try (CudaContext.Visit _ = visit()) {
            table().remove(region.address(), region.bytes());
            final CudaHandles.@Nullable DevicePointer pointer = pointers.remove(region.address());
            if (pointer != null) {
                resources().give(Kind.REGIONS, 1);
                CudaErrors.check("cuMemFree", JCudaDriver.cuMemFree(pointer));
            }
        }
    }

    @Override
    public MemorySegment allocatePinned(final long bytes) {
        requireLength("allocatePinned", bytes);
        final long again = frees.flush(frees.pinned(), bytes);
        if (again != DeferredFrees.NONE) {
            return pinnedAgain(again, bytes);
        }
        final long address;
        try (CudaContext.Visit _ = visit();
                Arena scratch = Arena.ofConfined()) {
            final MemorySegment out = scratch.allocate(ValueLayout.ADDRESS);
            CudaErrors.check("cuMemHostAlloc", CudaCalls.memHostAlloc(out, bytes, PORTABLE));
            address = out.get(ValueLayout.ADDRESS, 0).address();
        }
        resources().take(Kind.PINNED_BYTES, bytes);
        return pin(address, bytes);
    }

    private MemorySegment pin(final long address, final long bytes) {
        final Arena life = Arena.ofShared();
        pinned.put(address, new Pinned(address, bytes, life));
        return MemorySegment.ofAddress(address).reinterpret(bytes, life, null);
    }

    // The former owner's segment ends with its arena.
    private MemorySegment pinnedAgain(final long address, final long bytes) {
        final @Nullable Pinned before = pinned.remove(address);
        if (before != null) {
            before.life().close();
        }
        return pin(address, bytes);
    }

    @Override
    public void freePinned(final MemorySegment segment) {
        requireOpen();
        final @Nullable Pinned known = pinned.get(segment.address());
        if (known == null) {
            throw new IllegalArgumentException(name() + ": free of pinned memory that this device did not allocate");
        }
        final long address = segment.address();
        frees.free(frees.pinned(), address, known.bytes(), () -> freePinnedNow(address));
    }

    private void freePinnedNow(final long address) {
        try (CudaContext.Visit _ = visit()) {
            streams.drain();
            final @Nullable Pinned memory = pinned.remove(address);
            if (memory != null) {
                resources().give(Kind.PINNED_BYTES, memory.bytes());
                memory.life().close();
                CudaCalls.MEM_FREE_HOST.check(address);
            }
        }
    }

    /// Fails when any library of this process has registered the memory already, or when the system lets no more
    /// memory be locked; copies from unregistered memory are correct, but synchronous and slower.
    @Override
    public void registerHost(final MemorySegment segment) {
        requireOpen();
        HostBounds.check(name(), segment, 0, segment.byteSize());
        final var pointer = new CudaHandles.HostPointer(segment.address());
        try (CudaContext.Visit _ = visit()) {
            final int flags = segment.isReadOnly() ? PORTABLE | READ_ONLY : PORTABLE;
            CudaErrors.check("cuMemHostRegister", JCudaDriver.cuMemHostRegister(pointer, segment.byteSize(), flags));
        }
        registered.add(segment.address());
        resources().take(Kind.REGISTRATIONS, 1);
    }

    @Override
    public void unregisterHost(final MemorySegment segment) {
        final var pointer = new CudaHandles.HostPointer(segment.address());
        try (CudaContext.Visit _ = visit()) {
            streams.drain();
            CudaErrors.check("cuMemHostUnregister", JCudaDriver.cuMemHostUnregister(pointer));
        }
        if (registered.remove(segment.address())) {
            resources().give(Kind.REGISTRATIONS, 1);
        }
    }

    @Override
    public void unregisterHost(final MemorySegment segment, final Runnable afterwards) {
        if (!registered.remove(segment.address())) {
            // Closing this backend ended it, and its context may be gone.
            afterwards.run();
            return;
        }
        // A close of this backend leaves waiting frees alone: they come before its own.
        resources().give(Kind.REGISTRATIONS, 1);
        kernels.whenNoneRuns(() -> {
            unregisterNow(new CudaHandles.HostPointer(segment.address()));
            afterwards.run();
        });
    }

    // A device that is lost has lost its registrations with it, and was complained of before.
    private void unregisterNow(final CudaHandles.HostPointer pointer) {
        if (context.enter() != CUresult.CUDA_SUCCESS) {
            return;
        }
        try {
            streams.drain();
            JCudaDriver.cuMemHostUnregister(pointer);
        } catch (final DeviceException _) {
            // Of a device that failed nothing is left to unregister.
        } finally {
            context.leave();
        }
    }

    @Override
    public DeviceStream openStream() {
        try (CudaContext.Visit _ = visit()) {
            final CudaStream stream = new CudaStream(this);
            streams.add(stream);
            return stream;
        }
    }

    @Override
    public CudaEvent openEvent() {
        final CudaEvent event;
        try (CudaContext.Visit _ = visit()) {
            event = new CudaEvent(this);
        }
        events.add(event);
        resources().take(Kind.EVENTS, 1);
        return event;
    }

    /// The driver compiles the PTX here. Since CUDA 11.7 it would load the function at its first launch,
    /// which waits for running kernels: forever behind a persistent kernel. CUDA_MODULE_LOADING=EAGER must be
    /// in the environment before the process starts, so the function is loaded by hand: cuFuncLoad, or an
    /// attribute on older drivers.
    ///
    /// A kernel that was loaded before is returned at once. Beside a persistent kernel any other load is refused:
    /// it may wait for that kernel's end.
    @Override
    public DeviceKernel load(final KernelSource source) {
        requireOpen();
        final byte[] ptx = source.ptx().get();
        for (final Loaded known : loaded) {
            final CudaKernel kernel = known.kernel;
            if (kernel.name().equals(source.name())
                    && kernel.persistent() == source.persistent()
                    && Arrays.equals(known.ptx, ptx)) {
                return kernel;
            }
        }
        // CUDA's guide on lazy loading: "Loading kernels might require context synchronization", which behind a
        // persistent kernel never ends.
        if (kernels.any()) {
            throw new DeviceException(name() + ": kernel " + source.name() + " cannot be loaded while a persistent"
                    + " kernel runs: loading may wait for its end; load it before that one is launched");
        }
        try (CudaContext.Visit _ = visit()) {
            final CudaKernel kernel = load(source, Arrays.copyOf(ptx, ptx.length + 1));
            loaded.add(new Loaded(ptx, kernel));
            return kernel;
        }
    }

    private CudaKernel load(final KernelSource source, final byte[] terminated) {
        final CUmodule module = new CUmodule();
        final int code = JCudaDriver.cuModuleLoadData(module, terminated);
        CudaErrors.check("cuModuleLoadData of " + source.name(), code);
        try {
            final CudaKernel kernel = loadFunction(module, source);
            modules.add(module);
            return kernel;
        } catch (final DeviceException e) {
            // The first failure is thrown; unloading may wait.
            kernels.whenNoneRuns(() -> unload(module));
            throw e;
        }
    }

    private void unload(final CUmodule module) {
        if (context.enter() == CUresult.CUDA_SUCCESS) {
            JCudaDriver.cuModuleUnload(module);
            context.leave();
        }
    }

    private CudaKernel loadFunction(final CUmodule module, final KernelSource source) {
        final CudaHandles.Function function = new CudaHandles.Function();
        CudaErrors.check(
                "cuModuleGetFunction of " + source.name(),
                JCudaDriver.cuModuleGetFunction(function, module, source.name()));
        CudaErrors.check("cuFuncLoad", CudaCalls.funcLoad(function.value()));
        final int attribute = CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
        CudaErrors.check("cuFuncGetAttribute", JCudaDriver.cuFuncGetAttribute(new int[1], attribute, function));
        return new CudaKernel(this, source.name(), function.value(), source.persistent());
    }

    @Override
    public DeviceGather openGather(final DeviceStream stream) {
        return KernelGather.measured(this, stream, kernels::any);
    }

    @Override
    public boolean isBusy() {
        return !isClosed() && streams.isBusy();
    }

    @Override
    public boolean runsPersistentKernel() {
        return kernels.any();
    }

    @Override
    public long availableBytes() {
        final long[] unused = new long[1];
        try (CudaContext.Visit _ = visit()) {
            CudaErrors.check("cuMemGetInfo", JCudaDriver.cuMemGetInfo(unused, new long[1]));
        }
        return unused[0];
    }

    /// Frees everything, also where some calls fail; the first failure is thrown at the end. A device that is
    /// lost has lost its memory with it, and was complained of before.
    ///
    /// Waits for this backend's own streams, 10 s at most: work that still runs then keeps everything of this
    /// backend, for good. Beside a persistent kernel of another backend, memory whose freeing would wait for it is
    /// freed later.
    @Override
    public void close() {
        if (!markClosed()) {
            return;
        }
        final FirstFailure failure = new FirstFailure();
        final int code = context.enter();
        final boolean alive = code == CUresult.CUDA_SUCCESS;
        if (alive) {
            awaitOwnWork();
        }
        frees.clear();
        failure.note("cuCtxPushCurrent", code);
        streams.close(alive, failure);
        // Its kernels have ended with its streams, and the events behind them go now.
        kernels.forget(this);
        final Runnable release = release(alive, failure);
        if (alive) {
            context.leave();
        }
        kernels.whenNoneRuns(release);
        failure.rethrow();
    }

    // Work that does not end keeps its context.
    private void awaitOwnWork() {
        try {
            streams.awaitAll(name());
        } catch (final DeviceException e) {
            context.leave();
            throw e;
        }
    }

    // The backend is closed, so no other thread reaches its objects.
    private Runnable release(final boolean alive, final FirstFailure failure) {
        if (alive) {
            events.forEach(event -> {
                if (events.remove(event)) {
                    failure.note("cuEventDestroy", event.destroy());
                }
            });
            // At once: the owner may give the memory back to the system, and a registration that stays would send
            // later copies to pages of other memory.
            registered.forEach(address -> failure.note(
                    "cuMemHostUnregister", JCudaDriver.cuMemHostUnregister(new CudaHandles.HostPointer(address))));
        }
        registered.clear();
        final List<Pinned> pinnedLeft = drain(pinned);
        pinnedLeft.forEach(memory -> memory.life().close());
        table().clear();
        imported().clear();
        resources().close();
        final List<CudaHandles.DevicePointer> pointersLeft = drain(pointers);
        // Freeing memory and code waits for the whole GPU, so this runs once no persistent kernel runs.
        return () -> {
            final int code = context.enter();
            failure.note("cuCtxPushCurrent", code);
            // Handles of a context that was destroyed name nothing: a driver may crash on them.
            if (code == CUresult.CUDA_SUCCESS) {
                sharing.closeAll(failure);
                modules.forEach(module -> failure.note("cuModuleUnload", JCudaDriver.cuModuleUnload(module)));
                pointersLeft.forEach(pointer -> failure.note("cuMemFree", JCudaDriver.cuMemFree(pointer)));
                pinnedLeft.forEach(
                        memory -> failure.note("cuMemFreeHost", CudaCalls.MEM_FREE_HOST.call(memory.address())));
                context.leave();
            }
            failure.note("cuDevicePrimaryCtxRelease", context.release());
        };
    }

    private static <V> List<V> drain(final Map<Long, V> map) {
        final List<V> all = new ArrayList<>();
        map.keySet().forEach(key -> {
            final @Nullable V value = map.remove(key);
            if (value != null) {
                all.add(value);
            }
        });
        return all;
    }

    /// A call into this device begins on the calling thread.
    ///
    /// @throws DeviceException when the backend is closed, or its context gone
    CudaContext.Visit visit() {
        requireOpen();
        return context.visit();
    }

    /// As it is entered also when this is being closed.
    CudaContext context() {
        return context;
    }

    CudaStreams streams() {
        return streams;
    }

    /// Refuses a range that starts in one of this backend's allocations and leaves it. Other memory is
    /// the driver's to judge: a user's own buffers may come from any library.
    void checkRange(final String call, final long address, final long bytes) {
        final @Nullable Allocation found = find(address);
        // The address right behind an allocation may belong to another library's memory.
        final boolean leaves =
                found != null && address < found.address() + found.bytes() && !found.holds(address, bytes);
        if (bytes < 0 || leaves) {
            throw new DeviceException(name() + ": " + call + " of " + bytes + " bytes at 0x" + Long.toHexString(address)
                    + " leaves the memory allocated here; check address and length");
        }
    }

    /// A persistent kernel's grid, and how much of the GPU it takes; in the context.
    ResidentGrid grid(final CudaKernel kernel, final int gridBlocks, final int blockThreads) {
        try (Arena scratch = Arena.ofConfined()) {
            final MemorySegment out = scratch.allocate(ValueLayout.JAVA_INT);
            CudaErrors.check(
                    "cuOccupancyMaxActiveBlocksPerMultiprocessor",
                    CudaCalls.maxActiveBlocks(out, kernel.function(), blockThreads));
            final int perProcessor = out.get(ValueLayout.JAVA_INT, 0);
            return new ResidentGrid(kernel.name(), gridBlocks, blockThreads, perProcessor, properties.processors());
        }
    }

    /// Launches a persistent kernel on a stream, if it fits. A thread that frees memory meanwhile sees it already.
    void launchPersistent(final CudaStream stream, final ResidentGrid grid, final Runnable launch) {
        final CudaEvent ended = openEvent();
        boolean running = false;
        try {
            kernels.begin(this, stream, ended, grid);
            launch.run();
            running = true;
            stream.record(ended);
        } finally {
            if (running) {
                kernels.launched(ended);
            } else {
                kernels.failed(ended);
                ended.discard();
            }
        }
    }

    /// @return whether the event was still this backend's to destroy
    boolean forget(final CudaEvent event) {
        final boolean known = events.remove(event);
        if (known) {
            resources().give(Kind.EVENTS, 1);
        }
        return known;
    }
}
