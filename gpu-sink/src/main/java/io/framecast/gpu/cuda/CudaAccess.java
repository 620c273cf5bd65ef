package io.framecast.gpu.cuda;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceAccess;
import io.framecast.api.spi.DeviceAllocation;
import io.framecast.api.spi.DeviceAllocation.DmaBuf;
import io.framecast.api.spi.DeviceMapping;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceResources.Kind;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import jcuda.driver.CUresult;
import org.jspecify.annotations.Nullable;

/// Access of NICs and the CPU to a GPU's memory: exports by dma-buf, else by nvidia-peermem, and mappings by
/// gdrcopy.
final class CudaAccess implements DeviceAccess {
    // Attributes by their numbers in cuda.h; JCuda 12.6 does not name all of them.
    private static final int GPU_DIRECT_RDMA_SUPPORTED = 116;
    private static final int FLUSH_WRITES_OPTIONS = 117;
    private static final int WRITES_ORDERING = 118;
    private static final int DMA_BUF_SUPPORTED = 124;
    private static final int FLUSH_BY_HOST = 1;
    private static final int ORDERED_FOR_OWNER = 100;
    private static final int BUFFER_ID = 7;
    private static final long NO_BUFFER = -1;
    private static final long PAGE_BYTES = 4096;
    private static final Path PEERMEM = Path.of("/sys/module/nvidia_peermem");

    private final CudaBackend backend;
    private final boolean dmaBuf;
    private final boolean peermem;
    private final boolean ordered;
    private final boolean flushes;

    CudaAccess(final CudaBackend backend) {
        this.backend = backend;
        dmaBuf = CudaCalls.canExport() && backend.properties().optionalAttribute(DMA_BUF_SUPPORTED) == 1;
        peermem = Files.exists(PEERMEM) && backend.properties().optionalAttribute(GPU_DIRECT_RDMA_SUPPORTED) == 1;
        ordered = backend.properties().optionalAttribute(WRITES_ORDERING) >= ORDERED_FOR_OWNER;
        flushes = CudaCalls.canFlush()
                && (backend.properties().optionalAttribute(FLUSH_WRITES_OPTIONS) & FLUSH_BY_HOST) != 0;
    }

    @Override
    public Optional<String> exportRefusal() {
        if (!dmaBuf && !peermem) {
            return Optional.of("the GPU exports no dma-buf, and nvidia-peermem is not loaded");
        }
        return ordered || flushes ? Optional.empty() : Optional.of("the GPU neither orders nor flushes writes of NICs");
    }

    @Override
    public DeviceRegion export(final DeviceRegion region) {
        final Optional<String> refusal = exportRefusal();
        if (refusal.isPresent()) {
            throw new DeviceException(backend.name() + ": " + refusal.get() + "; use another placement");
        }
        if (!dmaBuf) {
            backend.resources().take(Kind.EXPORTS, 1);
            return region;
        }
        try (CudaContext.Visit _ = backend.visit();
                Arena scratch = Arena.ofConfined()) {
            final MemorySegment out = scratch.allocate(JAVA_INT);
            CudaErrors.check(
                    "cuMemGetHandleForAddressRange", CudaCalls.exportDmaBuf(out, region.address(), region.bytes()));
            backend.resources().take(Kind.EXPORTS, 1);
            return new DeviceRegion(region.address(), region.bytes(), out.get(JAVA_INT, 0), MemorySegment.NULL);
        }
    }

    @Override
    public DeviceRegion identify(final DeviceRegion region) {
        final long buffer = bufferId(region.address());
        if (buffer == NO_BUFFER || bufferId(region.address() + Math.max(1, region.bytes()) - 1) != buffer) {
            throw new IllegalArgumentException(
                    backend.name() + ": no device memory, not one allocation, or memory that is freed: "
                            + region.bytes() + " bytes at 0x" + Long.toHexString(region.address()));
        }
        return region.of(new Identified(this, region.address(), buffer));
    }

    // The driver's number of the allocation that holds an address; it never numbers another one so.
    private long bufferId(final long address) {
        try (CudaContext.Visit _ = backend.visit();
                Arena scratch = Arena.ofConfined()) {
            final MemorySegment out = scratch.allocate(JAVA_LONG);
            return CudaCalls.pointerAttribute(out, BUFFER_ID, address) == CUresult.CUDA_SUCCESS
                    ? out.get(JAVA_LONG, 0)
                    : NO_BUFFER;
        }
    }

    /// An allocation, by any address in it.
    private record Identified(CudaAccess access, long address, long buffer) implements DeviceAllocation {
        @Override
        public boolean equals(final @Nullable Object other) {
            return other instanceof final Identified one && one.access == access && one.buffer == buffer;
        }

        @Override
        public int hashCode() {
            return Long.hashCode(buffer);
        }

        @Override
        public boolean isAlive() {
            return access.bufferId(address) == buffer;
        }

        @Override
        public Optional<DmaBuf> export(final long address, final long bytes) {
            return access.dmaBuf ? Optional.of(access.export(address, bytes)) : Optional.empty();
        }
    }

    // The driver exports whole pages of the host.
    private DmaBuf export(final long address, final long bytes) {
        final long start = address & -PAGE_BYTES;
        final long end = address + bytes + PAGE_BYTES - 1 & -PAGE_BYTES;
        try (CudaContext.Visit _ = backend.visit();
                Arena scratch = Arena.ofConfined()) {
            final MemorySegment out = scratch.allocate(JAVA_INT);
            CudaErrors.check("cuMemGetHandleForAddressRange", CudaCalls.exportDmaBuf(out, start, end - start));
            final int descriptor = out.get(JAVA_INT, 0);
            return new DmaBuf(descriptor, address - start, () -> CudaCalls.closeDescriptor(descriptor));
        }
    }

    @Override
    public void unexport(final DeviceRegion region) {
        backend.resources().give(Kind.EXPORTS, 1);
        if (region.dmaBufDescriptor() != DeviceRegion.NO_DMA_BUF) {
            CudaCalls.closeDescriptor(region.dmaBufDescriptor());
        }
    }

    @Override
    public void flushRemoteWrites() {
        if (!ordered) {
            try (CudaContext.Visit _ = backend.visit()) {
                CudaErrors.check("cuFlushGPUDirectRDMAWrites", CudaCalls.flushRemoteWrites());
            }
        }
    }

    @Override
    public Optional<String> mappingRefusal() {
        return GdrMapping.refusal();
    }

    @Override
    public DeviceMapping map(final DeviceRegion region) {
        try (CudaContext.Visit _ = backend.visit()) {
            return new GdrMapping(backend.name(), region, backend.resources());
        }
    }
}
