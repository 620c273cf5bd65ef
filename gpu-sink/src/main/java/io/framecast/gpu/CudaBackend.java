package io.framecast.gpu;

import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceKernel;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.api.spi.KernelSource;
import io.framecast.gpu.AllocationTable.Allocation;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdevice_attribute;
import jcuda.driver.CUfunction_attribute;
import jcuda.driver.CUmodule;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;
import org.jspecify.annotations.Nullable;

/// One NVIDIA GPU through the CUDA driver API: set-up and teardown through JCuda, what is called per copy through the
/// downcalls of [CudaCalls], which says why.
///
/// The context is the device's primary one, which every CUDA user of the process shares, so that memory made here is
/// good for other libraries too; memory, streams and events are counted per backend. Each call makes the context
/// current on its thread first and leaves it so, as the CUDA runtime does: a driver call that costs nanoseconds when it
/// changes nothing, and needs no memory of which thread was where.
///
/// A kernel that leaves its memory breaks the primary context for the whole process; every later call says so.
final class CudaBackend implements DeviceBackend {
    private static final int PORTABLE = JCudaDriver.CU_MEMHOSTALLOC_PORTABLE;

    private final String name;
    private final String description;
    private final CUdevice device = new CUdevice();
    private final CudaHandles.Context context = new CudaHandles.Context();
    private final AllocationTable table = new AllocationTable();

    // Held while streams are waited for or destroyed, so that nobody waits for one that is gone. Taken before `lock`.
    private final ReentrantLock streamsInUse = new ReentrantLock();

    // Guards what follows; never held during a wait for the device, but by close.
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<Long, CudaHandles.DevicePointer> pointers = new HashMap<>();
    private final Map<Long, Arena> pinned = new HashMap<>();
    private final List<Long> registered = new ArrayList<>();
    private final List<CudaStream> streams = new ArrayList<>();
    private final List<CudaEvent> events = new ArrayList<>();
    private final List<CUmodule> modules = new ArrayList<>();
    private volatile boolean closed;

    /// @param ordinal below [CudaDriver#deviceCount]
    CudaBackend(final int ordinal) {
        name = "cuda:" + ordinal;
        CudaErrors.check("cuDeviceGet", JCudaDriver.cuDeviceGet(device, ordinal));
        description = describe();
        CudaErrors.check("cuDevicePrimaryCtxRetain", JCudaDriver.cuDevicePrimaryCtxRetain(context, device));
    }

    private String describe() {
        final byte[] model = new byte[256];
        CudaErrors.check("cuDeviceGetName", JCudaDriver.cuDeviceGetName(model, model.length, device));
        int length = 0;
        while (length < model.length && model[length] != 0) {
            length++;
        }
        final long[] bytes = new long[1];
        CudaErrors.check("cuDeviceTotalMem", JCudaDriver.cuDeviceTotalMem(bytes, device));
        final int[] version = new int[1];
        CudaErrors.check("cuDriverGetVersion", JCudaDriver.cuDriverGetVersion(version));
        return new String(model, 0, length, StandardCharsets.UTF_8) + ", " + (bytes[0] >> 20)
                + " MiB, compute capability "
                + attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) + "."
                + attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) + ", driver for CUDA "
                + version[0] / 1000 + "." + version[0] % 1000 / 10;
    }

    private int attribute(final int which) {
        final int[] value = new int[1];
        CudaErrors.check("cuDeviceGetAttribute", JCudaDriver.cuDeviceGetAttribute(value, which, device));
        return value[0];
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String description() {
        return description;
    }

    @Override
    public boolean hostAddressable() {
        return false;
    }

    @Override
    public DeviceRegion allocate(final long bytes) {
        use();
        checkLength("allocate", bytes);
        final var pointer = new CudaHandles.DevicePointer();
        CudaErrors.check("cuMemAlloc", JCudaDriver.cuMemAlloc(pointer, bytes));
        lock.lock();
        try {
            pointers.put(pointer.value(), pointer);
        } finally {
            lock.unlock();
        }
        table.add(new Allocation(pointer.value(), bytes, MemorySegment.NULL));
        return DeviceRegion.ofDevice(pointer.value(), bytes);
    }

    /// Waits for the work enqueued so far: cuMemFree does.
    @Override
    public void free(final DeviceRegion region) {
        use();
        if (table.remove(region.address(), region.bytes()) == null) {
            throw new IllegalArgumentException(name + ": free of a region that is no allocation of this device");
        }
        final CudaHandles.@Nullable DevicePointer pointer;
        lock.lock();
        try {
            pointer = pointers.remove(region.address());
        } finally {
            lock.unlock();
        }
        if (pointer != null) {
            CudaErrors.check("cuMemFree", JCudaDriver.cuMemFree(pointer));
        }
    }

    @Override
    public MemorySegment allocatePinned(final long bytes) {
        use();
        checkLength("allocatePinned", bytes);
        final long address;
        try (Arena scratch = Arena.ofConfined()) {
            final MemorySegment out = scratch.allocate(ValueLayout.ADDRESS);
            CudaErrors.check("cuMemHostAlloc", CudaCalls.memHostAlloc(out, bytes, PORTABLE));
            address = out.get(ValueLayout.ADDRESS, 0).address();
        }
        // Ends the segment's life with the memory's: a later access throws instead of crashing.
        final Arena life = Arena.ofShared();
        lock.lock();
        try {
            pinned.put(address, life);
        } finally {
            lock.unlock();
        }
        return MemorySegment.ofAddress(address).reinterpret(bytes, life, null);
    }

    @Override
    public void freePinned(final MemorySegment segment) {
        use();
        final @Nullable Arena life;
        lock.lock();
        try {
            life = pinned.remove(segment.address());
        } finally {
            lock.unlock();
        }
        if (life == null) {
            throw new IllegalArgumentException(name + ": free of pinned memory that this device did not allocate");
        }
        drain();
        life.close();
        CudaErrors.check("cuMemFreeHost", CudaCalls.memFreeHost(segment.address()));
    }

    /// Fails when the memory is registered already, by whomever in this process, or when the system lets no more memory
    /// be locked; copies from unregistered memory are correct, but synchronous and slower.
    @Override
    public void registerHost(final MemorySegment segment) {
        use();
        HostBounds.check(name, segment, 0, segment.byteSize());
        final var pointer = new CudaHandles.HostPointer(segment.address());
        CudaErrors.check("cuMemHostRegister", JCudaDriver.cuMemHostRegister(pointer, segment.byteSize(), PORTABLE));
        lock.lock();
        try {
            registered.add(segment.address());
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void unregisterHost(final MemorySegment segment) {
        use();
        drain();
        final var pointer = new CudaHandles.HostPointer(segment.address());
        CudaErrors.check("cuMemHostUnregister", JCudaDriver.cuMemHostUnregister(pointer));
        lock.lock();
        try {
            registered.remove(Long.valueOf(segment.address()));
        } finally {
            lock.unlock();
        }
    }

    @Override
    public DeviceStream openStream() {
        use();
        final CudaStream stream = new CudaStream(this);
        lock.lock();
        try {
            streams.add(stream);
        } finally {
            lock.unlock();
        }
        return stream;
    }

    @Override
    public DeviceEvent openEvent() {
        use();
        final CudaEvent event = new CudaEvent(this);
        lock.lock();
        try {
            events.add(event);
        } finally {
            lock.unlock();
        }
        return event;
    }

    /// The driver compiles the PTX here. Since CUDA 11.7 it would load the function at its first launch, which waits
    /// for whatever runs: forever behind a persistent kernel. CUDA_MODULE_LOADING=EAGER must be in the environment
    /// before the process starts, so the function is loaded by hand: cuFuncLoad, or an attribute on older drivers.
    @Override
    public DeviceKernel load(final KernelSource source) {
        use();
        final byte[] ptx = source.ptx().get();
        final CUmodule module = new CUmodule();
        CudaErrors.check(
                "cuModuleLoadData of " + source.name(),
                JCudaDriver.cuModuleLoadData(module, Arrays.copyOf(ptx, ptx.length + 1)));
        lock.lock();
        try {
            modules.add(module);
        } finally {
            lock.unlock();
        }
        final CudaHandles.Function function = new CudaHandles.Function();
        CudaErrors.check(
                "cuModuleGetFunction of " + source.name(),
                JCudaDriver.cuModuleGetFunction(function, module, source.name()));
        CudaErrors.check("cuFuncLoad", CudaCalls.funcLoad(function.value()));
        final int attribute = CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
        CudaErrors.check("cuFuncGetAttribute", JCudaDriver.cuFuncGetAttribute(new int[1], attribute, function));
        return new CudaKernel(this, source.name(), function.value());
    }

    @Override
    public long allocatedBytes() {
        return table.totalBytes();
    }

    @Override
    public long availableBytes() {
        use();
        final long[] unused = new long[1];
        CudaErrors.check("cuMemGetInfo", JCudaDriver.cuMemGetInfo(unused, new long[1]));
        return unused[0];
    }

    /// Frees everything, whatever fails on the way; the first failure is thrown at the end.
    @Override
    public void close() {
        streamsInUse.lock();
        lock.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
            // Nobody else reaches what is left, and new work is refused, so the lock may be held during the wait.
            final FirstFailure failure = new FirstFailure();
            failure.note("cuCtxSetCurrent", CudaCalls.ctxSetCurrent(context.value()));
            release(failure);
            failure.note("cuCtxSetCurrent", CudaCalls.ctxSetCurrent(0));
            failure.note("cuDevicePrimaryCtxRelease", JCudaDriver.cuDevicePrimaryCtxRelease(device));
            failure.rethrow();
        } finally {
            lock.unlock();
            streamsInUse.unlock();
        }
    }

    private void release(final FirstFailure failure) {
        streams.forEach(stream -> failure.note("cuStreamDestroy", stream.destroy()));
        events.forEach(event -> failure.note("cuEventDestroy", event.destroy()));
        modules.forEach(module -> failure.note("cuModuleUnload", JCudaDriver.cuModuleUnload(module)));
        pointers.values().forEach(pointer -> failure.note("cuMemFree", JCudaDriver.cuMemFree(pointer)));
        for (final long address : registered) {
            final var pointer = new CudaHandles.HostPointer(address);
            failure.note("cuMemHostUnregister", JCudaDriver.cuMemHostUnregister(pointer));
        }
        pinned.forEach((address, life) -> {
            life.close();
            failure.note("cuMemFreeHost", CudaCalls.memFreeHost(address));
        });
        streams.clear();
        events.clear();
        modules.clear();
        pointers.clear();
        registered.clear();
        pinned.clear();
        table.removeAll();
    }

    private static final class FirstFailure {
        private @Nullable DeviceException first;

        void note(final String call, final int code) {
            if (code != CUresult.CUDA_SUCCESS && first == null) {
                first = CudaErrors.failure(call, code);
            }
        }

        void rethrow() {
            if (first != null) {
                throw first;
            }
        }
    }

    /// Makes this device current on the calling thread.
    ///
    /// @throws DeviceException when the backend is closed
    void use() {
        if (closed) {
            throw new DeviceException(name + " is closed; open it again");
        }
        CudaErrors.check("cuCtxSetCurrent", CudaCalls.ctxSetCurrent(context.value()));
    }

    /// Refuses a range that starts in one of this backend's allocations and leaves it. Memory of others is the driver's
    /// to judge: a user's own buffers may come from any library.
    void checkRange(final String call, final long address, final long bytes) {
        final @Nullable Allocation found = table.find(address);
        // What lies right behind an allocation may be somebody else's.
        final boolean leaves =
                found != null && address < found.address() + found.bytes() && !found.holds(address, bytes);
        if (bytes < 0 || leaves) {
            throw new DeviceException(name + ": " + call + " of " + bytes + " bytes at 0x" + Long.toHexString(address)
                    + " leaves the memory allocated here; check address and length");
        }
    }

    /// Waits for the stream's work and destroys it, once.
    void retire(final CudaStream stream) {
        streamsInUse.lock();
        try {
            if (forget(stream)) {
                use();
                CudaErrors.check("cuStreamDestroy", stream.destroy());
            }
        } finally {
            streamsInUse.unlock();
        }
    }

    private boolean forget(final CudaStream stream) {
        lock.lock();
        try {
            return streams.remove(stream);
        } finally {
            lock.unlock();
        }
    }

    /// @return whether the event was still this backend's to destroy
    boolean forget(final CudaEvent event) {
        lock.lock();
        try {
            return events.remove(event);
        } finally {
            lock.unlock();
        }
    }

    private void drain() {
        streamsInUse.lock();
        try {
            for (final CudaStream stream : openStreams()) {
                CudaErrors.check("cuStreamSynchronize", stream.drain());
            }
        } finally {
            streamsInUse.unlock();
        }
    }

    private List<CudaStream> openStreams() {
        lock.lock();
        try {
            return List.copyOf(streams);
        } finally {
            lock.unlock();
        }
    }

    private void checkLength(final String call, final long bytes) {
        if (bytes <= 0) {
            throw new IllegalArgumentException(name + ": " + call + " expects bytes > 0, got " + bytes);
        }
    }
}
