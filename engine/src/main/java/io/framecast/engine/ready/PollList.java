package io.framecast.engine.ready;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.IntConsumer;

/// The descriptors of one sleep (ppoll), told anew before each: nobody is left to forget one that was closed. One
/// thread.
final class PollList implements IntConsumer {
    private static final int ROOM_MIN = 8;
    private static final long NS_PER_SECOND = 1_000_000_000;

    private final Arena arena;
    private final MemorySegment timespec;
    private MemorySegment pollfds;
    private int count;

    PollList(final Arena arena) {
        this.arena = arena;
        timespec = arena.allocate(ReadyCalls.TIMESPEC_BYTES, Long.BYTES);
        pollfds = arena.allocate((long) ROOM_MIN * ReadyCalls.POLLFD_BYTES, Long.BYTES);
    }

    void clear() {
        count = 0;
    }

    /// Adds a descriptor; [ReadySet#NONE] is ignored.
    @Override
    public void accept(final int descriptor) {
        if (descriptor == ReadySet.NONE) {
            return;
        }
        final long offset = (long) count * ReadyCalls.POLLFD_BYTES;
        if (offset == pollfds.byteSize()) {
            pollfds = arena.allocate(2 * offset, Long.BYTES).copyFrom(pollfds);
        }
        pollfds.set(JAVA_INT, offset, descriptor);
        pollfds.set(JAVA_SHORT, offset + ReadyCalls.POLLFD_EVENTS, ReadyCalls.POLLIN);
        count++;
    }

    /// Waits until one of the descriptors polls readable, or the time is over, or a signal arrives.
    ///
    /// @return whether one does
    boolean await(final long longestNs) {
        timespec.set(JAVA_LONG, 0, longestNs / NS_PER_SECOND);
        timespec.set(JAVA_LONG, ReadyCalls.TIMESPEC_NANOS, longestNs % NS_PER_SECOND);
        return ReadyCalls.ppoll(pollfds.address(), count, timespec.address()) > 0;
    }
}
