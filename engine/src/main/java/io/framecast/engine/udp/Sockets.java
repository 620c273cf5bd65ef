package io.framecast.engine.udp;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;

/// Mirrors the C socket calls. Results are as in C; the errno is left in the caller's capture segment. Loading
/// this class fails with a [LinkageError] where the C library lacks one of them.
final class Sockets {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final StructLayout CAPTURE = Linker.Option.captureStateLayout();
    private static final long ERRNO = CAPTURE.byteOffset(MemoryLayout.PathElement.groupElement("errno"));

    private static final MethodHandle SOCKET =
            handle("socket", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle BIND =
            handle("bind", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle CONNECT =
            handle("connect", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle GETSOCKNAME =
            handle("getsockname", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));
    private static final MethodHandle SETSOCKOPT =
            handle("setsockopt", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle GETSOCKOPT =
            handle("getsockopt", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));
    private static final MethodHandle IF_NAMETOINDEX =
            handle("if_nametoindex", FunctionDescriptor.of(JAVA_INT, ADDRESS));
    private static final MethodHandle CLOSE = handle("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    // The message arrays and the timeout go as plain addresses: a segment would be pinned and let go at every
    // call.
    private static final MethodHandle SENDMMSG =
            handle("sendmmsg", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT));
    private static final MethodHandle RECVMMSG =
            handle("recvmmsg", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG));

    private Sockets() {}

    private static MethodHandle handle(final String name, final FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(
                LINKER.defaultLookup().findOrThrow(name), descriptor, Linker.Option.captureCallState("errno"));
    }

    /// The number of a network interface; 0 where there is none of that name.
    static int interfaceIndex(final String name) {
        try (Arena arena = Arena.ofConfined()) {
            return (int) IF_NAMETOINDEX.invokeExact(newCapture(arena), arena.allocateFrom(name));
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    static MemorySegment newCapture(final Arena arena) {
        return arena.allocate(CAPTURE);
    }

    static int errno(final MemorySegment capture) {
        return capture.get(JAVA_INT, ERRNO);
    }

    static int socket(final MemorySegment capture, final int family, final int type) {
        try {
            return (int) SOCKET.invokeExact(capture, family, type, 0);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    static int bind(final MemorySegment capture, final int fd, final MemorySegment address, final int bytes) {
        try {
            return (int) BIND.invokeExact(capture, fd, address, bytes);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    static int connect(final MemorySegment capture, final int fd, final MemorySegment address, final int bytes) {
        try {
            return (int) CONNECT.invokeExact(capture, fd, address, bytes);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    static int getsockname(
            final MemorySegment capture, final int fd, final MemorySegment address, final MemorySegment bytes) {
        try {
            return (int) GETSOCKNAME.invokeExact(capture, fd, address, bytes);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    static int setsockopt(final MemorySegment capture, final int fd, final Option option, final MemorySegment value) {
        try {
            return (int)
                    SETSOCKOPT.invokeExact(capture, fd, option.level(), option.name(), value, (int) value.byteSize());
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    static int getsockopt(
            final MemorySegment capture,
            final int fd,
            final Option option,
            final MemorySegment value,
            final MemorySegment bytes) {
        try {
            return (int) GETSOCKOPT.invokeExact(capture, fd, option.level(), option.name(), value, bytes);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    static int close(final MemorySegment capture, final int fd) {
        try {
            return (int) CLOSE.invokeExact(capture, fd);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    static int sendmmsg(
            final MemorySegment capture, final int fd, final long messages, final int count, final int flags) {
        try {
            return (int) SENDMMSG.invokeExact(capture, fd, messages, count, flags);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    static int recvmmsg(
            final MemorySegment capture, final int fd, final long messages, final int count, final int flags) {
        try {
            return (int) RECVMMSG.invokeExact(capture, fd, messages, count, flags, 0L);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    // A downcall throws nothing but what our own mistakes cause.
    private static AssertionError unexpected(final Throwable e) {
        return new AssertionError("downcall", e);
    }

    /// A socket option: protocol level and number.
    record Option(int level, int name) {}
}
