package io.framecast.gpu.device;

import io.framecast.api.provider.ScopedLock;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The allocations of a device, by address. Look-ups come with every copy and neither lock nor allocate: they
/// search a sorted array that is replaced, never changed. Any thread may call any method.
public final class AllocationTable {
    private static final Allocation[] NONE = {};

    private final ScopedLock lock = new ScopedLock();
    private volatile Allocation[] sorted = NONE;
    /// One allocation.
    ///
    /// @param address first byte, as the device numbers its memory; never negative
    /// @param bytes length asked for
    /// @param backing where an emulated device keeps the bytes; [MemorySegment#NULL] for a real one
    public record Allocation(long address, long bytes, MemorySegment backing) {
        /// Whether `length` bytes from `at` lie inside, `at` being an address that [#find] gave this allocation
        /// for.
        public boolean holds(final long at, final long length) {
            return length >= 0 && length <= bytes - (at - address);
        }
    }

    public void add(final Allocation allocation) {
        try (ScopedLock.Scope _ = lock.hold()) {
            final Allocation[] all = Arrays.copyOf(sorted, sorted.length + 1);
            all[sorted.length] = allocation;
            Arrays.sort(all, Comparator.comparingLong(Allocation::address));
            sorted = all;
        }
    }

    /// Takes an allocation out.
    ///
    /// @return the allocation, or null when the table has none of this address and length
    public @Nullable Allocation remove(final long address, final long bytes) {
        try (ScopedLock.Scope _ = lock.hold()) {
            final Allocation found = find(address);
            if (found == null || found.address() != address || found.bytes() != bytes) {
                return null;
            }
            sorted = Stream.of(sorted).filter(one -> one.address() != address).toArray(Allocation[]::new);
            return found;
        }
    }

    public void clear() {
        try (ScopedLock.Scope _ = lock.hold()) {
            sorted = NONE;
        }
    }

    /// The allocation that contains the byte at `address`, or null. An allocation is found by its end too, so
    /// that an empty range behind its last byte is inside it.
    public @Nullable Allocation find(final long address) {
        final Allocation[] snapshot = sorted;
        final int index = floor(snapshot, address);
        if (index < 0) {
            return null;
        }
        final Allocation candidate = snapshot[index];
        return address - candidate.address() <= candidate.bytes() ? candidate : null;
    }

    public long totalBytes() {
        long total = 0;
        for (final Allocation allocation : sorted) {
            total += allocation.bytes();
        }
        return total;
    }

    // Index of the last allocation that starts at or before the address, -1 when there is none.
    private static int floor(final Allocation[] snapshot, final long address) {
        int low = 0;
        int high = snapshot.length - 1;
        while (low <= high) {
            final int middle = (low + high) >>> 1;
            if (snapshot[middle].address() <= address) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return high;
    }
}
