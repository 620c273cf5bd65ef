package io.framecast.engine.hostile;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/// Memory that this process has taken from the C library and not given back: arenas, and what libraries keep.
final class NativeMemory {
    // struct mallinfo2: ten size_t, hblkhd the fifth, uordblks the eighth.
    private static final MemoryLayout LAYOUT =
            MemoryLayout.structLayout(MemoryLayout.sequenceLayout(10, ValueLayout.JAVA_LONG));
    private static final int MAPPED = 4;
    private static final int USED = 7;

    private NativeMemory() {}

    /// @return 0 where the library does not say
    static long bytes() {
        final Linker linker = Linker.nativeLinker();
        return linker.defaultLookup()
                .find("mallinfo2")
                .map(found -> read(linker.downcallHandle(found, FunctionDescriptor.of(LAYOUT))))
                .orElse(0L);
    }

    private static long read(final MethodHandle call) {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment info = (MemorySegment) call.invokeExact((SegmentAllocator) arena);
            return info.getAtIndex(ValueLayout.JAVA_LONG, MAPPED) + info.getAtIndex(ValueLayout.JAVA_LONG, USED);
        } catch (final Throwable e) {
            throw new AssertionError(e);
        }
    }
}
