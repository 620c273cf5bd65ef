package io.framecast.engine.libc;

import io.framecast.api.error.TransportException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// Counters that processes wake each other by (eventfd(2)).
public final class EventCount {
    private static final MemorySegment ONE = Arena.global().allocateFrom(ValueLayout.JAVA_LONG, 1);

    private EventCount() {}

    /// A new one, whose descriptor is the caller's.
    public static int open() {
        final int made = Libc.eventfd(0, Linux.EFD_CLOEXEC | Linux.EFD_NONBLOCK);
        if (made < 0) {
            throw new TransportException("host group: no descriptor left; raise ulimit -n");
        }
        return made;
    }

    /// Wakes the thread that waits.
    public static void add(final int descriptor) {
        Libc.write(descriptor, ONE.address(), Long.BYTES);
    }

    /// Makes it wait again.
    public static void drain(final int descriptor, final MemorySegment scratch) {
        Libc.read(descriptor, scratch.address(), Long.BYTES);
    }
}
