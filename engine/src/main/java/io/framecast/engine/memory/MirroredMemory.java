package io.framecast.engine.memory;

import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// Host memory mapped twice, back to back: byte `i` and byte `bytes + i` are the same byte, so that a frame
/// that wraps around a ring's end lies contiguous all the same. The memory is zeroed. All its pages are
/// allocated when it is made, so that a lack of memory shows here, and no page fault falls into the stream; but for
/// [#allocateSoon].
///
/// Mapping works in whole pages. Where the length is no multiple of [#pageBytes], or the system cannot map
/// twice, the memory is plain and [#mirrored] is false.
///
/// Ownership: freed by [#close], after which every access through [#segment] throws; nothing native may still
/// hold the address. Threading: any thread may use the memory, and close it after the last use.
public final class MirroredMemory implements AutoCloseable {
    private static final int PAGE_BYTES_ELSEWHERE = 4096;
    private static final long ALIGN_BYTES = 4096;

    private static final int NO_FILE = -1;

    private final Arena arena;
    private final MemorySegment segment;
    private final boolean mirrored;
    // For other processes.
    private int descriptor = NO_FILE;

    private MirroredMemory(final Arena arena, final MemorySegment segment, final boolean mirrored) {
        this.arena = arena;
        this.segment = segment;
        this.mirrored = mirrored;
    }

    /// Memory of `bytes` bytes, mapped twice where the system can, else followed by `spareBytes` bytes of its own.
    ///
    /// @param spareBytes bytes behind the end that the caller addresses in any case; at most `bytes`
    /// @throws OutOfMemoryError when the system has not that much available
    public static MirroredMemory allocate(final long bytes, final long spareBytes) {
        return allocate(bytes, spareBytes, SystemMemory::availableBytes);
    }

    /// The same, to be given to other processes by its [#descriptor], where it is mapped twice.
    public static MirroredMemory allocateShared(final long bytes) {
        return allocateShared(bytes, 0);
    }

    /// The same, followed by `spareBytes` bytes of its own where it is not mapped twice.
    public static MirroredMemory allocateShared(final long bytes, final long spareBytes) {
        return allocate(bytes, spareBytes, true, true, SystemMemory::availableBytes);
    }

    /// As [#allocateShared], at once: pages are allocated by their first use, or by [#populate].
    public static MirroredMemory allocateSoon(final long bytes) {
        return allocate(bytes, 0, true, false, SystemMemory::availableBytes);
    }

    static MirroredMemory allocate(final long bytes, final long spareBytes, final LongSupplier available) {
        return allocate(bytes, spareBytes, false, true, available);
    }

    private static MirroredMemory allocate(
            final long bytes,
            final long spareBytes,
            final boolean shared,
            final boolean populated,
            final LongSupplier available) {
        if (bytes <= 0 || bytes > Long.MAX_VALUE / 2 || spareBytes < 0 || spareBytes > bytes) {
            throw new IllegalArgumentException(
                    "memory: expected bytes > 0 and 0 <= spare <= bytes, got " + bytes + " and " + spareBytes);
        }
        // The pages are taken at once. Without this check, Linux would kill a process for them.
        SystemMemory.require(bytes + spareBytes, available);
        final MirroredMemory mapped =
                Linux.isPresent() && bytes % pageBytes() == 0 ? mapTwice(bytes, shared, populated) : null;
        return mapped == null ? plain(bytes + spareBytes) : mapped;
    }

    /// Memory mapped once, also where the system can map it twice.
    static MirroredMemory plain(final long bytes) {
        final Arena arena = Arena.ofShared();
        try {
            return new MirroredMemory(arena, arena.allocate(bytes, ALIGN_BYTES), false);
        } catch (final OutOfMemoryError e) {
            arena.close();
            throw e;
        }
    }

    /// Bytes of a page; the length of mirrored memory is a multiple of it.
    static long pageBytes() {
        return Linux.isPresent() ? Libc.pageBytes() : PAGE_BYTES_ELSEWHERE;
    }

    /// Whether the second half of [#segment] is the first half again.
    public boolean mirrored() {
        return mirrored;
    }

    /// `2 × bytes` bytes where [#mirrored], of which the first half is the ring; else `bytes` and the spare.
    public MemorySegment segment() {
        return segment;
    }

    /// The descriptor of shared memory that is mapped twice, open until [#close]; else −1.
    public int descriptor() {
        return descriptor;
    }

    /// Allocates the pages that have not been used yet, on any thread.
    public synchronized void populate() {
        if (descriptor != NO_FILE && segment.scope().isAlive()) {
            Libc.posixFallocate(descriptor, segment.byteSize() / 2);
        }
    }

    @Override
    public synchronized void close() {
        if (descriptor != NO_FILE) {
            Libc.close(descriptor);
            descriptor = NO_FILE;
        }
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }

    private static @Nullable MirroredMemory mapTwice(final long bytes, final boolean shared, final boolean populated) {
        try (Arena scratch = Arena.ofConfined()) {
            final int descriptor = Libc.memfdCreate(
                    scratch.allocateFrom("framecast-ring"), Linux.MFD_CLOEXEC | Linux.MFD_ALLOW_SEALING);
            if (descriptor < 0) {
                return null;
            }
            final MirroredMemory mapped = map(descriptor, bytes, populated);
            if (mapped == null || !shared) {
                // The mappings keep the memory alive.
                Libc.close(descriptor);
            }
            if (mapped != null && shared) {
                mapped.descriptor = descriptor;
            }
            return mapped;
        }
    }

    private static @Nullable MirroredMemory map(final int descriptor, final long bytes, final boolean populated) {
        // After ftruncate a lack of memory would be a SIGBUS at first touch; here it is an error.
        final int sized = populated ? Libc.posixFallocate(descriptor, bytes) : Libc.ftruncate(descriptor, bytes);
        if (sized != 0) {
            return null;
        }
        final long address = mapTwice(descriptor, bytes, Linux.PROT_READ_WRITE, populated ? Linux.MAP_POPULATE : 0);
        if (address == Linux.MAP_FAILED) {
            return null;
        }
        // Without these seals a process that gets the descriptor could write into the memory. It could also make the
        // memory shorter, which ends this process by the next access.
        Libc.fcntl(descriptor, Linux.F_ADD_SEALS, Linux.F_SEAL_SHRINK | Linux.F_SEAL_GROW);
        Libc.fcntl(descriptor, Linux.F_ADD_SEALS, Linux.F_SEAL_FUTURE_WRITE);
        Libc.fcntl(descriptor, Linux.F_ADD_SEALS, Linux.F_SEAL_SEAL);
        final Arena arena = Arena.ofShared();
        return new MirroredMemory(arena, Libc.mapped(address, 2 * bytes, arena), true);
    }

    /// The first `bytes` bytes of another process's mirrored memory, mapped twice, to be read.
    ///
    /// @return memory of `2 × bytes` bytes that belongs to the arena; null where that cannot be
    public static @Nullable MemorySegment view(final int descriptor, final long bytes, final Arena arena) {
        if (bytes <= 0 || bytes % pageBytes() != 0 || Libc.length(descriptor) < bytes || !Libc.isSealed(descriptor)) {
            return null;
        }
        final long address = mapTwice(descriptor, bytes, Linux.PROT_READ, 0);
        return address == Linux.MAP_FAILED
                ? null
                : Libc.mapped(address, 2 * bytes, arena).asReadOnly();
    }

    private static long mapTwice(final int descriptor, final long bytes, final int protection, final int flags) {
        final int reserve = Linux.MAP_PRIVATE | Linux.MAP_ANONYMOUS | Linux.MAP_NORESERVE;
        final long address = Libc.mmap(0, 2 * bytes, Linux.PROT_NONE, reserve, -1);
        final int shared = Linux.MAP_SHARED | Linux.MAP_FIXED | flags;
        if (address != Linux.MAP_FAILED
                && (Libc.mmap(address, bytes, protection, shared, descriptor) == Linux.MAP_FAILED
                        || Libc.mmap(address + bytes, bytes, protection, shared, descriptor) == Linux.MAP_FAILED)) {
            Libc.munmap(address, 2 * bytes);
            return Linux.MAP_FAILED;
        }
        return address;
    }
}
