package io.framecast.engine.memory;

import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.KernelSource;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.agrona.CloseHelper;
import org.agrona.collections.ArrayUtil;
import org.jspecify.annotations.Nullable;

/// The host addresses that are device memory of one backend: memory that it allocated or registered. Reads take
/// a snapshot and allocate nothing; changes replace the snapshot under a lock.
final class HostMemoryTable implements KernelSource.DeviceMemory {
    private static final Range[] NO_RANGES = {};

    /// One range.
    ///
    /// @param arena owner of memory that the backend allocated; null for registered memory
    record Range(MemorySegment segment, @Nullable Arena arena) {
        long start() {
            return segment.address();
        }

        long bytes() {
            return segment.byteSize();
        }
    }

    private volatile Range[] ranges = NO_RANGES;

    synchronized void add(final Range range) {
        ranges = ArrayUtil.add(ranges, range);
    }

    /// Takes out the range that begins at an address.
    ///
    /// @param owned whether the backend allocated it
    /// @return null when there is none
    @Nullable
    synchronized Range remove(final long start, final boolean owned) {
        for (final Range range : ranges) {
            if (range.start() == start && (range.arena() != null) == owned) {
                ranges = ArrayUtil.remove(ranges, range);
                return range;
            }
        }
        return null;
    }

    /// Frees the memory that the backend allocated.
    synchronized void close() {
        for (final Range range : ranges) {
            CloseHelper.close(range.arena());
        }
        ranges = NO_RANGES;
    }

    /// The range that holds `bytes` bytes from an address on.
    Range find(final long address, final long bytes) {
        // Few, large ranges: a scan is shorter than keeping them sorted.
        for (final Range range : ranges) {
            if (address >= range.start() && bytes >= 0 && address - range.start() <= range.bytes() - bytes) {
                return range;
            }
        }
        throw new DeviceException("host: expected memory allocated by or registered with this device, got " + bytes
                + " bytes at 0x" + Long.toHexString(address));
    }

    @Override
    public MemorySegment at(final long deviceAddress, final long bytes) {
        final Range range = find(deviceAddress, bytes);
        return range.segment().asSlice(deviceAddress - range.start(), bytes);
    }
}
