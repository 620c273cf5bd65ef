package io.framecast.engine.ready;

import io.framecast.api.error.TransportException;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import io.framecast.reliability.memory.Words;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// A set of descriptors (epoll) that is itself one: it polls readable while one of them does. A descriptor
/// leaves the set by being closed.
///
/// Threading: [#add] by any thread, [#look] and [#tag] by one.
public final class ReadySet implements AutoCloseable {
    /// Stands for no descriptor.
    public static final int NONE = -1;

    /// Members that one look finds at most.
    public static final int LOOK_MAX = 16;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment events = arena.allocate((long) LOOK_MAX * Linux.EPOLL_EVENT_BYTES, Long.BYTES);
    private final int descriptor;
    private boolean closed;

    private ReadySet(final int descriptor) {
        this.descriptor = descriptor;
    }

    /// Whether this system has such sets.
    public static boolean isPresent() {
        return Linux.isPresent();
    }

    /// Makes an empty set.
    ///
    /// @throws TransportException when the system is out of descriptors
    public static ReadySet open() {
        final int descriptor = Libc.epollCreate(Linux.EPOLL_CLOEXEC);
        if (descriptor < 0) {
            throw new TransportException("epoll: no descriptor left; raise ulimit -n");
        }
        return new ReadySet(descriptor);
    }

    public int descriptor() {
        return descriptor;
    }

    /// Adds a member with tag 0.
    ///
    /// @throws TransportException when the system is out of watches
    public void add(final int member) {
        add(member, 0);
    }

    /// Adds a member.
    ///
    /// @param tag number by which [#tag] names it
    /// @throws TransportException when the system is out of watches
    public void add(final int member, final int tag) {
        try (Arena scratch = Arena.ofConfined()) {
            final MemorySegment event = scratch.allocate(Linux.EPOLL_EVENT_BYTES, Long.BYTES);
            Words.setInt(event, 0, Linux.EPOLLIN);
            Words.setInt(event, Linux.EPOLL_DATA, tag);
            if (Libc.epollCtl(descriptor, Linux.EPOLL_CTL_ADD, member, event) < 0) {
                throw new TransportException(
                        "epoll: descriptor " + member + " cannot be watched; raise fs.epoll.max_user_watches");
            }
        }
    }

    /// Finds the members that poll readable now, by one call for all of them. Where more than [#LOOK_MAX] do,
    /// the next look finds further ones.
    ///
    /// @return how many it found: their tags are [#tag] 0 and on
    public int look() {
        return Libc.epollWait(descriptor, events.address(), LOOK_MAX, 0);
    }

    /// Tag of one of the members found by the last [#look].
    public int tag(final int index) {
        return Words.getInt(events, (long) index * Linux.EPOLL_EVENT_BYTES + Linux.EPOLL_DATA);
    }

    /// Idempotent.
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            Libc.close(descriptor);
            arena.close();
        }
    }
}
