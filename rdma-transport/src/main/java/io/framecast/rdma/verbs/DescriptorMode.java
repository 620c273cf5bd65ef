package io.framecast.rdma.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;

/// A descriptor that a library made blocking, turned non-blocking before its first use.
final class DescriptorMode {
    static final int F_GETFL = 3;
    static final int F_SETFL = 4;
    static final int O_NONBLOCK = 04000;

    private static final MemorySegment FCNTL =
            Linker.nativeLinker().defaultLookup().findOrThrow("fcntl");

    private final int descriptor;
    private final String what;
    private boolean isUnblocked;

    DescriptorMode(final int descriptor, final String what) {
        this.descriptor = descriptor;
        this.what = what;
    }

    int descriptor() {
        return descriptor;
    }

    void unblock() {
        if (!isUnblocked) {
            final int flags = control(F_GETFL, 0);
            control(F_SETFL, flags | O_NONBLOCK);
            isUnblocked = true;
        }
    }

    private int control(final int command, final int argument) {
        try (Arena scratch = Arena.ofConfined()) {
            final MemorySegment capture = Downcalls.newCapture(scratch);
            final int result = Downcalls.fcntl(FCNTL, capture, descriptor, command, argument);
            if (result < 0) {
                throw VerbsErrors.of("fcntl", Downcalls.errno(capture), what);
            }
            return result;
        }
    }
}
