package io.framecast.engine.ready;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.framecast.api.error.TransportException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// A set of descriptors (epoll) that is itself one: it polls readable while one of them does. A descriptor leaves the
/// set by being closed.
///
/// Threading: [#add] by any thread, [#look] and [#tag] by one.
public final class ReadySet implements AutoCloseable {
    /// What stands for no descriptor.
    public static final int NONE = -1;

    /// Members told by one look.
    public static final int LOOK_MAX = 16;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment events = arena.allocate((long) LOOK_MAX * ReadyCalls.EPOLL_EVENT_BYTES, Long.BYTES);
    private final int descriptor;
    private boolean closed;

    private ReadySet(final int descriptor) {
        this.descriptor = descriptor;
    }

    /// Whether this system has such sets.
    public static boolean isPresent() {
        return ReadyCalls.isPresent();
    }

    /// Makes an empty set.
    ///
    /// @throws TransportException when the system is out of descriptors
    public static ReadySet open() {
        final int descriptor = ReadyCalls.epollCreate();
        if (descriptor < 0) {
            throw new TransportException("epoll: no descriptor left; raise ulimit -n");
        }
        return new ReadySet(descriptor);
    }

    public int descriptor() {
        return descriptor;
    }

    /// Adds a member that nobody asks for by itself.
    ///
    /// @throws TransportException when the system is out of watches
    public void add(final int member) {
        add(member, 0);
    }

    /// Adds a member.
    ///
    /// @param tag what [#look] tells of it
    /// @throws TransportException when the system is out of watches
    public void add(final int member, final int tag) {
        try (Arena scratch = Arena.ofConfined()) {
            final MemorySegment event = scratch.allocate(ReadyCalls.EPOLL_EVENT_BYTES, Long.BYTES);
            event.set(JAVA_INT, 0, ReadyCalls.EPOLLIN);
            event.set(JAVA_INT, ReadyCalls.EPOLL_DATA, tag);
            if (ReadyCalls.epollAdd(descriptor, member, event) < 0) {
                throw new TransportException(
                        "epoll: descriptor " + member + " cannot be watched; raise fs.epoll.max_user_watches");
            }
        }
    }

    /// Asks which members poll readable now, by one call for all of them; of more than [#LOOK_MAX] some are told at the
    /// next look.
    ///
    /// @return how many do: their tags are [#tag] 0 and on
    public int look() {
        return ReadyCalls.epollLook(descriptor, events.address(), LOOK_MAX);
    }

    /// Tag of one of the members found by the last [#look].
    public int tag(final int index) {
        return events.get(JAVA_INT, (long) index * ReadyCalls.EPOLL_EVENT_BYTES + ReadyCalls.EPOLL_DATA);
    }

    /// Idempotent.
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            ReadyCalls.close(descriptor);
            arena.close();
        }
    }
}
