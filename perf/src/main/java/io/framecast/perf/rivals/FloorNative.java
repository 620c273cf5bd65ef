package io.framecast.perf.rivals;

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

/// The C socket calls of the floor and the numbers they take, of Linux on 64-bit x86 and ARM. Results are as in C; the
/// errno is left in the caller's capture segment.
final class FloorNative {
    static final int AF_INET = 2;
    static final int SOCK_DGRAM = 2;
    static final int SOCK_CLOEXEC = 0x80000;

    static final int SOCKADDR_IN_BYTES = 16;
    static final int SIN_PORT = 2;
    static final int SIN_ADDR = 4;

    static final int IOVEC_BYTES = 16;
    static final int IOV_LEN = 8;

    // struct mmsghdr: a struct msghdr and the length.
    static final int MMSGHDR_BYTES = 64;
    static final int MSG_IOV = 16;
    static final int MSG_IOVLEN = 24;
    static final int MSG_CONTROL = 32;
    static final int MSG_CONTROLLEN = 40;
    static final int MSG_LEN = 56;

    // struct cmsghdr and one int, as the kernel pads it.
    static final int CMSG_BYTES = 24;
    static final int CMSG_LEVEL = 8;
    static final int CMSG_TYPE = 12;
    static final int CMSG_DATA = 16;

    // struct ip_mreqn
    static final int IP_MREQN_BYTES = 12;
    static final int IMR_ADDRESS = 4;

    static final int MSG_DONTWAIT = 0x40;
    static final int MSG_WAITFORONE = 0x10000;

    static final int SOL_SOCKET = 1;
    static final int SO_REUSEADDR = 2;
    static final int SO_SNDBUF = 7;
    static final int SO_RCVBUF = 8;
    static final int SO_RCVTIMEO = 20;
    static final int SO_SNDBUFFORCE = 32;
    static final int SO_RCVBUFFORCE = 33;
    static final int SO_MEMINFO = 55;
    static final int MEMINFO_WORDS = 9;

    static final int IPPROTO_IP = 0;
    static final int IP_MULTICAST_IF = 32;
    static final int IP_MULTICAST_LOOP = 34;
    static final int IP_ADD_MEMBERSHIP = 35;
    static final int IP_MULTICAST_ALL = 49;

    static final int SOL_UDP = 17;
    static final int UDP_SEGMENT = 103;
    static final int UDP_GRO = 104;

    static final int EINTR = 4;
    static final int EAGAIN = 11;
    static final int ECONNREFUSED = 111;

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
    private static final MethodHandle CLOSE = handle("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    private static final MethodHandle SENDMMSG =
            handle("sendmmsg", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT));
    private static final MethodHandle RECVMMSG =
            handle("recvmmsg", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG));

    private FloorNative() {}

    private static MethodHandle handle(final String name, final FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(
                LINKER.defaultLookup().findOrThrow(name), descriptor, Linker.Option.captureCallState("errno"));
    }

    static MemorySegment newCapture(final Arena arena) {
        return arena.allocate(CAPTURE);
    }

    static int errno(final MemorySegment capture) {
        return capture.get(JAVA_INT, ERRNO);
    }

    static int socket(final MemorySegment capture) {
        try {
            return (int) SOCKET.invokeExact(capture, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    static int bind(final MemorySegment capture, final int fd, final MemorySegment address) {
        try {
            return (int) BIND.invokeExact(capture, fd, address, SOCKADDR_IN_BYTES);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    static int connect(final MemorySegment capture, final int fd, final MemorySegment address) {
        try {
            return (int) CONNECT.invokeExact(capture, fd, address, SOCKADDR_IN_BYTES);
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

    static int sendmmsg(final MemorySegment capture, final int fd, final long messages, final int count) {
        try {
            return (int) SENDMMSG.invokeExact(capture, fd, messages, count, 0);
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
    record Option(int level, int name) {
        static Option socket(final int name) {
            return new Option(SOL_SOCKET, name);
        }

        static Option ip(final int name) {
            return new Option(IPPROTO_IP, name);
        }

        static Option udp(final int name) {
            return new Option(SOL_UDP, name);
        }
    }
}
