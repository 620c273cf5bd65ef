package io.framecast.gpu.cuda;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceHandle;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceResources.Kind;
import io.framecast.api.spi.DeviceSharing;
import io.framecast.gpu.device.AllocationTable.Allocation;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import jcuda.driver.CUdevice_attribute;
import org.jspecify.annotations.Nullable;

/// A GPU's memory in several processes by CUDA's inter-process communication: plain allocations (cuMemAlloc), whose
/// handles any process of the user may open that sees the GPU.
final class CudaSharing implements DeviceSharing {
    // The driver takes small allocations out of pages of this length, and a handle opens the whole page.
    private static final long PAGE_BYTES = 2L << 20;
    // A handle cannot be opened in the process that made it; the address serves there.
    private static final Map<String, Shared> SHARED = new ConcurrentHashMap<>();

    private final CudaBackend backend;
    private final int ordinal;
    private final Set<Long> opened = ConcurrentHashMap.newKeySet();

    private record Shared(CudaBackend owner, DeviceRegion region) {}

    CudaSharing(final CudaBackend backend, final int ordinal) {
        this.backend = backend;
        this.ordinal = ordinal;
    }

    @Override
    public Optional<String> refusal() {
        if (!CudaIpc.isPresent()) {
            return Optional.of("the CUDA driver has no calls for memory of several processes");
        }
        final CudaProperties properties = backend.properties();
        if (properties.optionalAttribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_INTEGRATED) != 0
                || properties.optionalAttribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING) == 0) {
            return Optional.of("this GPU has no memory of its own that CUDA shares between processes");
        }
        return Optional.empty();
    }

    @Override
    public UUID identity() {
        try (Arena scratch = Arena.ofConfined()) {
            return CudaIpc.uuid(ordinal, scratch.allocate(16, 8));
        }
    }

    @Override
    public Optional<String> reachRefusal(final UUID device) {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment scratch = arena.allocate(16, 8);
            for (int other = 0; other < CudaDriver.deviceCount(); other++) {
                if (CudaIpc.uuid(other, scratch).equals(device)) {
                    return other == ordinal || CudaIpc.canAccessPeer(ordinal, other, scratch)
                            ? Optional.empty()
                            : Optional.of(backend.name() + " has no peer access to cuda:" + other);
                }
            }
        }
        return Optional.of("that GPU is not visible to this process (CUDA_VISIBLE_DEVICES)");
    }

    @Override
    public DeviceRegion allocate(final long bytes) {
        return backend.allocate((bytes + PAGE_BYTES - 1) & -PAGE_BYTES);
    }

    @Override
    public DeviceHandle handle(final DeviceRegion region) {
        try (CudaContext.Visit _ = backend.visit();
                Arena scratch = Arena.ofConfined()) {
            final MemorySegment out = scratch.allocate(CudaIpc.HANDLE_BYTES, 8);
            CudaErrors.check("cuIpcGetMemHandle", CudaIpc.getMemHandle(out, region.address()));
            final String text = HexFormat.of().formatHex(out.toArray(JAVA_BYTE));
            SHARED.values().removeIf(shared -> !shared.owner.owns(shared.region));
            SHARED.put(text, new Shared(backend, region));
            return new DeviceHandle(identity(), region.bytes(), text);
        }
    }

    @Override
    public DeviceRegion open(final DeviceHandle handle) {
        final @Nullable Shared own = SHARED.get(handle.text());
        final long address = own != null && own.owner.owns(own.region) ? own.region.address() : map(handle);
        backend.imported().add(new Allocation(address, handle.bytes(), MemorySegment.NULL));
        backend.resources().take(Kind.IMPORTS, 1);
        return DeviceRegion.ofDevice(address, handle.bytes());
    }

    private long map(final DeviceHandle handle) {
        final byte[] bytes;
        try {
            bytes = HexFormat.of().parseHex(handle.text());
        } catch (final IllegalArgumentException e) {
            throw new DeviceException(backend.name() + ": cannot open memory of another kind of device", e);
        }
        if (bytes.length != CudaIpc.HANDLE_BYTES) {
            throw new DeviceException(backend.name() + ": cannot open memory of another kind of device");
        }
        try (CudaContext.Visit _ = backend.visit();
                Arena scratch = Arena.ofConfined()) {
            final MemorySegment given = scratch.allocate(CudaIpc.HANDLE_BYTES, 8);
            MemorySegment.copy(bytes, 0, given, JAVA_BYTE, 0, bytes.length);
            final MemorySegment out = scratch.allocate(JAVA_LONG);
            CudaErrors.check("cuIpcOpenMemHandle", CudaIpc.openMemHandle(out, given));
            opened.add(out.get(JAVA_LONG, 0));
            return out.get(JAVA_LONG, 0);
        }
    }

    @Override
    public void close(final DeviceRegion region, final Runnable afterwards) {
        if (backend.imported().remove(region.address(), region.bytes()) == null) {
            throw new IllegalArgumentException(backend.name() + ": close of memory that was not opened");
        }
        backend.resources().give(Kind.IMPORTS, 1);
        if (!opened.remove(region.address())) {
            afterwards.run();
            return;
        }
        // The manual does not say whether it waits for kernels, as cuMemFree does.
        backend.whenNoKernelRuns(() -> {
            if (backend.context().enter() == jcuda.driver.CUresult.CUDA_SUCCESS) {
                CudaIpc.closeMemHandle(region.address());
                backend.context().leave();
            }
            afterwards.run();
        });
    }

    /// Closes all open memory; in the context.
    void closeAll(final FirstFailure failure) {
        opened.forEach(address -> {
            if (opened.remove(address)) {
                failure.note("cuIpcCloseMemHandle", CudaIpc.closeMemHandle(address));
            }
        });
    }
}
