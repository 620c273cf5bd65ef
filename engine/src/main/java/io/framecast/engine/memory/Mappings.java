package io.framecast.engine.memory;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// The C library's memory mappings, as far as a doubled ring needs them. Linux only.
final class Mappings {
    private static final int PROT_NONE = 0;
    private static final int PROT_READ_WRITE = 3;
    private static final int MAP_SHARED = 1;
    private static final int MAP_PRIVATE = 2;
    private static final int MAP_FIXED = 0x10;
    private static final int MAP_ANONYMOUS = 0x20;
    private static final int MFD_CLOEXEC = 1;
    private static final long MAP_FAILED = -1;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final @Nullable MethodHandle MEMFD_CREATE =
            find("memfd_create", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
    private static final @Nullable MethodHandle FTRUNCATE =
            find("ftruncate", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final @Nullable MethodHandle MMAP = find(
            "mmap", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final @Nullable MethodHandle MUNMAP =
            find("munmap", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final @Nullable MethodHandle CLOSE = find("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));

    private Mappings() {}

    private static @Nullable MethodHandle find(final String name, final FunctionDescriptor descriptor) {
        if (!System.getProperty("os.name", "").toLowerCase(Locale.ROOT).startsWith("linux")) {
            return null;
        }
        return LINKER.defaultLookup()
                .find(name)
                .map(symbol -> LINKER.downcallHandle(symbol, descriptor))
                .orElse(null);
    }

    static boolean available() {
        return MEMFD_CREATE != null && FTRUNCATE != null && MMAP != null && MUNMAP != null && CLOSE != null;
    }

    /// Maps `bytes` bytes of fresh shared memory twice, back to back.
    ///
    /// @return a segment of twice the length, to be given to [#unmap]; empty when the system refused
    static MemorySegment mapTwice(final long bytes) {
        final int descriptor = memfd();
        if (descriptor < 0) {
            return MemorySegment.NULL;
        }
        try {
            return call(FTRUNCATE, descriptor, bytes) == 0 ? mapTwice(descriptor, bytes) : MemorySegment.NULL;
        } finally {
            // The mappings keep the memory.
            call(CLOSE, descriptor);
        }
    }

    private static MemorySegment mapTwice(final int descriptor, final long bytes) {
        final long base = call(MMAP, 0L, 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
        if (base == MAP_FAILED) {
            return MemorySegment.NULL;
        }
        final int flags = MAP_SHARED | MAP_FIXED;
        if (call(MMAP, base, bytes, PROT_READ_WRITE, flags, descriptor, 0L) != base
                || call(MMAP, base + bytes, bytes, PROT_READ_WRITE, flags, descriptor, 0L) != base + bytes) {
            call(MUNMAP, base, 2 * bytes);
            return MemorySegment.NULL;
        }
        return SegmentViews.ofAddress(base, 2 * bytes);
    }

    static void unmap(final MemorySegment mapping) {
        call(MUNMAP, mapping.address(), mapping.byteSize());
    }

    private static int memfd() {
        try (Arena arena = Arena.ofConfined()) {
            return (int) call(MEMFD_CREATE, arena.allocateFrom("framecast"), MFD_CLOEXEC);
        }
    }

    private static long call(final @Nullable MethodHandle function, final Object... arguments) {
        if (function == null) {
            throw new IllegalStateException("mappings are not available here");
        }
        try {
            return ((Number) function.invokeWithArguments(arguments)).longValue();
        } catch (final Throwable e) {
            throw new IllegalStateException("a call of the C library failed", e);
        }
    }
}
