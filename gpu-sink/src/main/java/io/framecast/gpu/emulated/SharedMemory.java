package io.framecast.gpu.emulated;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.framecast.api.error.DeviceException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// Zeroed host memory with a descriptor by which others map it (memfd): in place of a dma-buf.
///
/// @param segment the memory, unmapped and its descriptor closed with its arena
/// @param descriptor its own; others get copies
record SharedMemory(MemorySegment segment, int descriptor) {
    private static final int MFD_CLOEXEC = 1;
    private static final int READ_WRITE = 3;
    private static final int MAP_SHARED = 1;
    private static final long MAP_FAILED = -1;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final MethodHandle MEMFD_CREATE =
            handle("memfd_create", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle FTRUNCATE =
            handle("ftruncate", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle MMAP = handle(
            "mmap", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle MUNMAP = handle("munmap", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle DUP = handle("dup", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    private static final MethodHandle CLOSE = handle("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));

    private static MethodHandle handle(final String name, final FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow(name), descriptor);
    }

    /// @param arena frees the memory when it closes
    static SharedMemory allocate(final Arena arena, final long bytes) {
        try (Arena scratch = Arena.ofConfined()) {
            final int made = (int) MEMFD_CREATE.invokeExact(scratch.allocateFrom("framecast-emulated"), MFD_CLOEXEC);
            final long address = made >= 0 && (int) FTRUNCATE.invokeExact(made, bytes) == 0
                    ? (long) MMAP.invokeExact(0L, bytes, READ_WRITE, MAP_SHARED, made, 0L)
                    : MAP_FAILED;
            if (address == MAP_FAILED) {
                close(made);
                throw new DeviceException(
                        "emulated device: the host has no " + bytes + " bytes to share; allocate less");
            }
            final MemorySegment segment = MemorySegment.ofAddress(address).reinterpret(bytes, arena, memory -> {
                unmap(memory);
                close(made);
            });
            return new SharedMemory(segment, made);
        } catch (final DeviceException e) {
            throw e;
        } catch (final Throwable e) {
            throw new AssertionError("a system call cannot throw", e);
        }
    }

    /// A descriptor of the memory, the caller's until [#close].
    int export() {
        try {
            final int copy = (int) DUP.invokeExact(descriptor);
            if (copy < 0) {
                throw new DeviceException("emulated device: too many open files; raise ulimit -n");
            }
            return copy;
        } catch (final DeviceException e) {
            throw e;
        } catch (final Throwable e) {
            throw new AssertionError("dup cannot throw", e);
        }
    }

    private static void unmap(final MemorySegment memory) {
        try {
            final int _ = (int) MUNMAP.invokeExact(memory.address(), memory.byteSize());
        } catch (final Throwable e) {
            throw new AssertionError("munmap cannot throw", e);
        }
    }

    static void close(final int descriptor) {
        try {
            final int _ = (int) CLOSE.invokeExact(descriptor);
        } catch (final Throwable e) {
            throw new AssertionError("close cannot throw", e);
        }
    }
}
