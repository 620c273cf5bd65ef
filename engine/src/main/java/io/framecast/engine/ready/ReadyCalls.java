package io.framecast.engine.ready;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// Mirrors the C calls that wait for descriptors, with the numbers of Linux on 64-bit x86 and ARM. Loading this class
/// fails with a [LinkageError] where one of them is absent: ask [#isPresent] first. Results are as in C, without the
/// errno: whoever waits looks for itself what there is.
final class ReadyCalls {
    static final int CLOEXEC = 0x80000;
    static final int NONBLOCK = 0x800;
    static final int EPOLL_CTL_ADD = 1;
    static final int EPOLLIN = 1;
    static final short POLLIN = 1;

    // On x86 struct epoll_event is packed.
    private static final boolean PACKED = System.getProperty("os.arch").equals("amd64");

    /// struct epoll_event: events, 64 bits of the caller's.
    static final int EPOLL_EVENT_BYTES = PACKED ? 12 : 16;

    static final int EPOLL_DATA = PACKED ? 4 : 8;

    /// struct pollfd: descriptor, events wanted, events seen.
    static final int POLLFD_BYTES = 8;

    static final int POLLFD_EVENTS = 4;

    /// struct timespec: seconds, nanoseconds.
    static final int TIMESPEC_BYTES = 16;

    static final int TIMESPEC_NANOS = 8;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final MethodHandle EPOLL_CREATE = handle("epoll_create1", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    private static final MethodHandle EPOLL_CTL =
            handle("epoll_ctl", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS));
    private static final MethodHandle EVENTFD = handle("eventfd", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle CLOSE = handle("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    // Memory goes as plain addresses: a segment would be pinned and let go at every call.
    private static final MethodHandle PPOLL =
            handle("ppoll", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle EPOLL_WAIT =
            handle("epoll_wait", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT));
    private static final MethodHandle READ =
            handle("read", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle WRITE =
            handle("write", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG));

    private ReadyCalls() {}

    private static MethodHandle handle(final String name, final FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow(name), descriptor);
    }

    /// Whether this system has these calls.
    static boolean isPresent() {
        return "Linux".equals(System.getProperty("os.name"))
                && ADDRESS.byteSize() == Long.BYTES
                && LINKER.defaultLookup().find("ppoll").isPresent()
                && LINKER.defaultLookup().find("eventfd").isPresent();
    }

    static int epollCreate() {
        try {
            return (int) EPOLL_CREATE.invokeExact(CLOEXEC);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    static int epollAdd(final int epoll, final int descriptor, final MemorySegment event) {
        try {
            return (int) EPOLL_CTL.invokeExact(epoll, EPOLL_CTL_ADD, descriptor, event);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    /// Fills `events` with what is ready now.
    static int epollLook(final int epoll, final long events, final int eventsMax) {
        try {
            return (int) EPOLL_WAIT.invokeExact(epoll, events, eventsMax, 0);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    static int eventfd() {
        try {
            return (int) EVENTFD.invokeExact(0, CLOEXEC | NONBLOCK);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    static int close(final int descriptor) {
        try {
            return (int) CLOSE.invokeExact(descriptor);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    /// Waits for `count` descriptors.
    static int ppoll(final long pollfds, final long count, final long timespec) {
        try {
            return (int) PPOLL.invokeExact(pollfds, count, timespec, 0L);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    static long read(final int descriptor, final long address, final long bytes) {
        try {
            return (long) READ.invokeExact(descriptor, address, bytes);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    static long write(final int descriptor, final long address, final long bytes) {
        try {
            return (long) WRITE.invokeExact(descriptor, address, bytes);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    // A downcall throws nothing but what our own mistakes cause.
    private static AssertionError unexpected(final Throwable e) {
        return new AssertionError("downcall", e);
    }
}
