package io.framecast.rdma;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;

/// poll(2) on one descriptor.
final class ReadyCall {
    private static final short POLLIN = 1;

    private ReadyCall() {}

    static boolean isReadable(final int descriptor) {
        return isReadable(descriptor, 0);
    }

    static boolean isReadable(final int descriptor, final int timeoutMs) {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment asked = arena.allocate(8, 4);
            asked.set(JAVA_INT, 0, descriptor);
            asked.set(JAVA_SHORT, 4, POLLIN);
            final int ready = (int) Linker.nativeLinker()
                    .downcallHandle(
                            Linker.nativeLinker().defaultLookup().findOrThrow("poll"),
                            FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT))
                    .invokeExact(asked, 1L, timeoutMs);
            return ready == 1 && (asked.get(JAVA_SHORT, 6) & POLLIN) != 0;
        } catch (final Throwable e) {
            throw new AssertionError(e);
        }
    }
}
