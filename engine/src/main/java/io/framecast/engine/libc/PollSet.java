package io.framecast.engine.libc;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.framecast.reliability.memory.Words;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// A few descriptors that one thread waits for (ppoll(2)), by their places.
///
/// One thread. Its memory belongs to the arena.
public final class PollSet {
    private static final long NS_PER_S = 1_000_000_000;
    private static final long NO_TIMEOUT = 0;

    private final MemorySegment polled;
    private final MemorySegment timeout;

    /// @param places 1 or more
    public PollSet(final Arena arena, final int places) {
        polled = arena.allocate((long) places * Linux.POLLFD_BYTES, Long.BYTES);
        timeout = arena.allocate(Linux.TIMESPEC_BYTES, Long.BYTES);
    }

    /// Puts a descriptor in a place, and clears its readiness there.
    public void watch(final int place, final int descriptor) {
        final long at = (long) place * Linux.POLLFD_BYTES;
        Words.setInt(polled, at, descriptor);
        Words.setInt(polled, at + Linux.POLLFD_EVENTS, Linux.POLLIN);
    }

    /// Waits until a descriptor of the first `places` is readable or closed at its other end, or the time is over.
    ///
    /// @param ns less than 0: for ever
    public void await(final int places, final long ns) {
        if (ns < 0) {
            Libc.ppoll(polled.address(), places, NO_TIMEOUT);
            return;
        }
        timeout.set(JAVA_LONG, 0, ns / NS_PER_S);
        timeout.set(JAVA_LONG, Linux.TIMESPEC_NANOS, ns % NS_PER_S);
        Libc.ppoll(polled.address(), places, timeout.address());
    }

    /// Whether the last wait found a place's descriptor ready.
    public boolean isReady(final int place) {
        return Words.getShort(polled, (long) place * Linux.POLLFD_BYTES + Linux.POLLFD_EVENTS + Short.BYTES) != 0;
    }
}
