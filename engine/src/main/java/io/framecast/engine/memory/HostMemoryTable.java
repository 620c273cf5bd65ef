package io.framecast.engine.memory;

import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.KernelSource;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// The host addresses that are device memory of one backend: memory that it allocated or registered. Reads take
/// a snapshot and allocate nothing; changes replace the snapshot under a lock.
final class HostMemoryTable implements KernelSource.DeviceMemory {
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

    private final Object lock = new Object();
    private volatile Range[] ranges = new Range[0];

    void add(final Range range) {
        synchronized (lock) {
            final Range[] next = Arrays.copyOf(ranges, ranges.length + 1);
            next[ranges.length] = range;
            ranges = next;
        }
    }

    /// Takes out the range that begins at an address.
    ///
    /// @param owned whether the backend allocated it
    /// @return null when there is none
    @Nullable
    Range remove(final long start, final boolean owned) {
        synchronized (lock) {
            final Range[] before = ranges;
            for (int i = 0; i < before.length; i++) {
                if (before[i].start() == start && (before[i].arena() != null) == owned) {
                    final Range[] next = new Range[before.length - 1];
                    System.arraycopy(before, 0, next, 0, i);
                    System.arraycopy(before, i + 1, next, i, next.length - i);
                    ranges = next;
                    return before[i];
                }
            }
            return null;
        }
    }

    Range[] removeAll() {
        synchronized (lock) {
            final Range[] before = ranges;
            ranges = new Range[0];
            return before;
        }
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
