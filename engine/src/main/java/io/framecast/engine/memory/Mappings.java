package io.framecast.engine.memory;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// Mirrors the C calls that map memory. Loading this class fails with a [LinkageError] where one of them is absent:
/// ask [#isPresent] first. Results are as in C; the errno is left in the caller's capture segment.
final class Mappings {
    static final int PROT_NONE = 0;
    static final int PROT_READ_WRITE = 3;
    static final int MAP_SHARED = 0x01;
    static final int MAP_PRIVATE = 0x02;
    static final int MAP_FIXED = 0x10;
    static final int MAP_ANONYMOUS = 0x20;
    static final int MAP_NORESERVE = 0x4000;
    static final int MAP_POPULATE = 0x8000;
    static final int MFD_CLOEXEC = 1;
    static final long MAP_FAILED = -1;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final StructLayout CAPTURE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = CAPTURE.varHandle(MemoryLayout.PathElement.groupElement("errno"));

    // memfd_create stands for all: without it there is nothing to map twice.
    private static final MethodHandle MEMFD_CREATE =
            handle("memfd_create", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle FALLOCATE =
            handle("posix_fallocate", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle MMAP = handle(
            "mmap", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle MUNMAP = handle("munmap", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle CLOSE = handle("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    private static final MethodHandle PAGE_BYTES = handle("getpagesize", FunctionDescriptor.of(JAVA_INT));

    private Mappings() {}

    private static MethodHandle handle(final String name, final FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(
                LINKER.defaultLookup().findOrThrow(name), descriptor, Linker.Option.captureCallState("errno"));
    }

    /// Whether this system has these calls.
    static boolean isPresent() {
        return isLinux64() && LINKER.defaultLookup().find("memfd_create").isPresent();
    }

    // The constants above are those of Linux.
    private static boolean isLinux64() {
        return "Linux".equals(System.getProperty("os.name")) && ADDRESS.byteSize() == Long.BYTES;
    }

    static MemorySegment newCapture(final Arena arena) {
        return arena.allocate(CAPTURE);
    }

    static int errno(final MemorySegment capture) {
        return (int) ERRNO.get(capture, 0L);
    }

    static int memfdCreate(final MemorySegment capture, final MemorySegment name, final int flags) {
        try {
            return (int) MEMFD_CREATE.invokeExact(capture, name, flags);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    /// Returns the error itself, not -1, as in C.
    static int posixFallocate(final MemorySegment capture, final int descriptor, final long bytes) {
        try {
            return (int) FALLOCATE.invokeExact(capture, descriptor, 0L, bytes);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    static long mmap(
            final MemorySegment capture, final long address, final long bytes, final MapMode mode, final int fd) {
        try {
            return (long) MMAP.invokeExact(capture, address, bytes, mode.protection(), mode.flags(), fd, 0L);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    static int munmap(final MemorySegment capture, final long address, final long bytes) {
        try {
            return (int) MUNMAP.invokeExact(capture, address, bytes);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    static int close(final MemorySegment capture, final int descriptor) {
        try {
            return (int) CLOSE.invokeExact(capture, descriptor);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    static int pageBytes(final MemorySegment capture) {
        try {
            return (int) PAGE_BYTES.invokeExact(capture);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    /// Memory at an address that [#mmap] gave, valid until the arena closes.
    static MemorySegment segment(
            final long address, final long bytes, final Arena arena, final @Nullable Runnable free) {
        return MemorySegment.ofAddress(address)
                .reinterpret(bytes, arena, free == null ? null : (final MemorySegment _) -> free.run());
    }

    // A downcall throws nothing but what our own mistakes cause.
    private static AssertionError unexpected(final Throwable e) {
        return new AssertionError("downcall", e);
    }

    /// How to map: PROT_ and MAP_ bits.
    record MapMode(int protection, int flags) {}
}
