package io.framecast.api.spi;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Memory of a device: the one place where RDMA and GPU meet. Owned by the [DeviceBackend] that allocated it, or by the
/// user that made it. The code that it is passed to never frees it.
///
/// @param address first byte as the device sees it (host memory: the virtual address)
/// @param bytes length
/// @param dmaBufDescriptor descriptor that exports the memory to a NIC, or -1
/// @param host the same memory as the host sees it, or [MemorySegment#NULL] where the host cannot address it
/// @param allocation in which it lies; null where that is not known ([DeviceAccess#identify])
public record DeviceRegion(
        long address,
        long bytes,
        int dmaBufDescriptor,
        MemorySegment host,
        @Nullable DeviceAllocation allocation) {
    public static final int NO_DMA_BUF = -1;

    public DeviceRegion {
        if (bytes <= 0) {
            throw new IllegalArgumentException("device region: expected bytes > 0, got " + bytes);
        }
    }

    /// A region of an allocation that is not known.
    public DeviceRegion(final long address, final long bytes, final int dmaBufDescriptor, final MemorySegment host) {
        this(address, bytes, dmaBufDescriptor, host, null);
    }

    /// Host memory as a region.
    public static DeviceRegion ofHost(final MemorySegment segment) {
        return new DeviceRegion(segment.address(), segment.byteSize(), NO_DMA_BUF, segment);
    }

    /// Device memory that the host cannot address.
    public static DeviceRegion ofDevice(final long address, final long bytes) {
        return new DeviceRegion(address, bytes, NO_DMA_BUF, MemorySegment.NULL);
    }

    public boolean hostAddressable() {
        return host.byteSize() >= bytes;
    }

    /// The same memory, of an allocation that is known.
    public DeviceRegion of(final DeviceAllocation known) {
        return new DeviceRegion(address, bytes, dmaBufDescriptor, host, known);
    }

    /// A part of this region. A slice carries no descriptor, for exports name whole allocations, and no allocation.
    public DeviceRegion slice(final long offset, final long length) {
        if (offset < 0 || length <= 0 || offset > bytes - length) {
            throw new IndexOutOfBoundsException(
                    "device region of " + bytes + " bytes: slice " + offset + " + " + length);
        }
        final MemorySegment part = hostAddressable() ? host.asSlice(offset, length) : MemorySegment.NULL;
        return new DeviceRegion(address + offset, length, NO_DMA_BUF, part);
    }
}
