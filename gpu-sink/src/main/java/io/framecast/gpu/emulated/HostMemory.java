package io.framecast.gpu.emulated;

import io.framecast.api.error.DeviceException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/// Zeroed host memory from calloc. [Arena#allocate] would count against -XX:MaxDirectMemorySize, which is the heap's
/// size by default, and would touch every page at once: device memory is often larger than the heap and used in part.
final class HostMemory {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final MethodHandle CALLOC = LINKER.downcallHandle(
            LINKER.defaultLookup().findOrThrow("calloc"),
            FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));
    private static final MethodHandle FREE = LINKER.downcallHandle(
            LINKER.defaultLookup().findOrThrow("free"), FunctionDescriptor.ofVoid(ValueLayout.ADDRESS));

    private HostMemory() {}

    /// @param arena frees the memory when it closes
    /// @param alignment a power of two
    static MemorySegment allocate(final Arena arena, final long bytes, final long alignment) {
        final long asked = Math.addExact(bytes, alignment);
        final MemorySegment raw = calloc(asked);
        if (raw.address() == 0) {
            throw new DeviceException(
                    "emulated device: the host has no " + bytes + " bytes left; allocate less or close other programs");
        }
        final MemorySegment owned = raw.reinterpret(asked, arena, HostMemory::free);
        return owned.asSlice(-owned.address() & (alignment - 1), bytes);
    }

    private static MemorySegment calloc(final long bytes) {
        try {
            return (MemorySegment) CALLOC.invokeExact(1L, bytes);
        } catch (final Throwable e) {
            throw new AssertionError("calloc cannot throw", e);
        }
    }

    private static void free(final MemorySegment memory) {
        try {
            FREE.invokeExact(memory);
        } catch (final Throwable e) {
            throw new AssertionError("free cannot throw", e);
        }
    }
}
