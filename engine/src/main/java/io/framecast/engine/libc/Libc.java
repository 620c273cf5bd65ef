package io.framecast.engine.libc;

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

/// Mirrors calls of the C library; results are as in C.
///
/// A call with a `capture` leaves its errno there: memory from [#newCapture], which belongs to the thread that
/// calls. The other calls keep no errno, because no caller decides by it. Memory that the kernel only reads or
/// writes during a hot call goes as a plain address: a segment would be pinned and released at every call.
///
/// Loading this class fails with a [LinkageError] where a call is absent: ask [Linux#isPresent] first.
public final class Libc {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final StructLayout CAPTURE = Linker.Option.captureStateLayout();
    private static final long ERRNO = CAPTURE.byteOffset(MemoryLayout.PathElement.groupElement("errno"));
    private static final Linker.Option WITH_ERRNO = Linker.Option.captureCallState("errno");

    private static final MethodHandle SOCKET = capturing("socket", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT);
    private static final MethodHandle BIND = capturing("bind", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle CONNECT = capturing("connect", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle GETSOCKNAME = capturing("getsockname", JAVA_INT, JAVA_INT, ADDRESS, ADDRESS);
    private static final MethodHandle SETSOCKOPT =
            capturing("setsockopt", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle GETSOCKOPT =
            capturing("getsockopt", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS);
    private static final MethodHandle SENDMMSG =
            capturing("sendmmsg", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT);
    private static final MethodHandle RECVMMSG =
            capturing("recvmmsg", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG);

    private static final MethodHandle SENDTO =
            plain("sendto", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle RECV = plain("recv", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT);
    private static final MethodHandle IOCTL = LINKER.downcallHandle(
            LINKER.defaultLookup().findOrThrow("ioctl"),
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS),
            Linker.Option.firstVariadicArg(2));
    private static final MethodHandle ADJTIMEX = plain("adjtimex", JAVA_INT, ADDRESS);
    private static final MethodHandle CLOSE = plain("close", JAVA_INT, JAVA_INT);
    private static final MethodHandle READ = plain("read", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle WRITE = plain("write", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle EVENTFD = plain("eventfd", JAVA_INT, JAVA_INT, JAVA_INT);
    private static final MethodHandle EPOLL_CREATE = plain("epoll_create1", JAVA_INT, JAVA_INT);
    private static final MethodHandle EPOLL_CTL = plain("epoll_ctl", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS);
    private static final MethodHandle EPOLL_WAIT =
            plain("epoll_wait", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT);
    private static final MethodHandle PPOLL = plain("ppoll", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);

    private static final MethodHandle MEMFD_CREATE = plain("memfd_create", JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle FALLOCATE = plain("posix_fallocate", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle MMAP =
            plain("mmap", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG);
    private static final MethodHandle MUNMAP = plain("munmap", JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle GETPAGESIZE = plain("getpagesize", JAVA_INT);

    private static final MethodHandle KILL = plain("kill", JAVA_INT, JAVA_INT, JAVA_INT);
    private static final MethodHandle CLOCK_GETTIME = plain("clock_gettime", JAVA_INT, JAVA_INT, ADDRESS);

    private Libc() {}

    private static MethodHandle capturing(
            final String name, final MemoryLayout result, final MemoryLayout... arguments) {
        return LINKER.downcallHandle(
                LINKER.defaultLookup().findOrThrow(name), FunctionDescriptor.of(result, arguments), WITH_ERRNO);
    }

    private static MethodHandle plain(final String name, final MemoryLayout result, final MemoryLayout... arguments) {
        return LINKER.downcallHandle(
                LINKER.defaultLookup().findOrThrow(name), FunctionDescriptor.of(result, arguments));
    }

    /// Memory for the errno of one thread's calls.
    public static MemorySegment newCapture(final Arena arena) {
        return arena.allocate(CAPTURE);
    }

    /// The errno of the last call with this capture, valid only where that call failed.
    public static int errno(final MemorySegment capture) {
        return capture.get(JAVA_INT, ERRNO);
    }

    public static int socket(final MemorySegment capture, final int family, final int type, final int protocol) {
        return call(() -> (int) SOCKET.invokeExact(capture, family, type, protocol));
    }

    public static int bind(
            final MemorySegment capture, final int descriptor, final MemorySegment address, final int addressBytes) {
        return call(() -> (int) BIND.invokeExact(capture, descriptor, address, addressBytes));
    }

    public static int connect(
            final MemorySegment capture, final int descriptor, final MemorySegment address, final int addressBytes) {
        return call(() -> (int) CONNECT.invokeExact(capture, descriptor, address, addressBytes));
    }

    public static int getsockname(
            final MemorySegment capture,
            final int descriptor,
            final MemorySegment address,
            final MemorySegment addressBytes) {
        return call(() -> (int) GETSOCKNAME.invokeExact(capture, descriptor, address, addressBytes));
    }

    public static int setsockopt(
            final MemorySegment capture, final int descriptor, final SocketOption option, final MemorySegment value) {
        return call(() -> (int) SETSOCKOPT.invokeExact(
                capture, descriptor, option.level(), option.name(), value, (int) value.byteSize()));
    }

    public static int getsockopt(
            final MemorySegment capture,
            final int descriptor,
            final SocketOption option,
            final MemorySegment value,
            final MemorySegment valueBytes) {
        return call(() ->
                (int) GETSOCKOPT.invokeExact(capture, descriptor, option.level(), option.name(), value, valueBytes));
    }

    /// Sends an array of `struct mmsghdr` at an address.
    public static int sendmmsg(
            final MemorySegment capture, final int descriptor, final long messages, final int count, final int flags) {
        try {
            return (int) SENDMMSG.invokeExact(capture, descriptor, messages, count, flags);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    /// Receives into an array of `struct mmsghdr` at an address, without a timeout of its own.
    public static int recvmmsg(
            final MemorySegment capture, final int descriptor, final long messages, final int count, final int flags) {
        try {
            return (int) RECVMMSG.invokeExact(capture, descriptor, messages, count, flags, 0L);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    public static long sendto(
            final int descriptor, final MemorySegment bytes, final MemorySegment address, final int addressBytes) {
        return longCall(() -> (long) SENDTO.invokeExact(descriptor, bytes, bytes.byteSize(), 0, address, addressBytes));
    }

    public static long recv(final int descriptor, final MemorySegment bytes, final int flags) {
        return longCall(() -> (long) RECV.invokeExact(descriptor, bytes, bytes.byteSize(), flags));
    }

    public static int ioctl(final int descriptor, final long request, final MemorySegment argument) {
        return call(() -> (int) IOCTL.invokeExact(descriptor, request, argument));
    }

    /// @param timex [Linux#TIMEX_BYTES] bytes of 0, so that nothing is set
    /// @return the clock's state, or negative on failure
    public static int adjtimex(final MemorySegment timex) {
        try {
            return (int) ADJTIMEX.invokeExact(timex);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    public static int close(final int descriptor) {
        return call(() -> (int) CLOSE.invokeExact(descriptor));
    }

    public static long read(final int descriptor, final long address, final long bytes) {
        try {
            return (long) READ.invokeExact(descriptor, address, bytes);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    public static long write(final int descriptor, final long address, final long bytes) {
        try {
            return (long) WRITE.invokeExact(descriptor, address, bytes);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    public static int eventfd(final int initial, final int flags) {
        return call(() -> (int) EVENTFD.invokeExact(initial, flags));
    }

    public static int epollCreate(final int flags) {
        return call(() -> (int) EPOLL_CREATE.invokeExact(flags));
    }

    public static int epollCtl(final int epoll, final int operation, final int descriptor, final MemorySegment event) {
        return call(() -> (int) EPOLL_CTL.invokeExact(epoll, operation, descriptor, event));
    }

    public static int epollWait(final int epoll, final long events, final int eventsMax, final int timeoutMs) {
        try {
            return (int) EPOLL_WAIT.invokeExact(epoll, events, eventsMax, timeoutMs);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    public static int ppoll(final long pollfds, final long count, final long timespec) {
        try {
            return (int) PPOLL.invokeExact(pollfds, count, timespec, 0L);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    public static int memfdCreate(final MemorySegment name, final int flags) {
        return call(() -> (int) MEMFD_CREATE.invokeExact(name, flags));
    }

    /// Allocates a file's bytes from its start. Returns the error itself, not -1, as in C.
    public static int posixFallocate(final int descriptor, final long bytes) {
        return call(() -> (int) FALLOCATE.invokeExact(descriptor, 0L, bytes));
    }

    /// Maps a descriptor from its start.
    public static long mmap(
            final long address, final long bytes, final int protection, final int flags, final int descriptor) {
        return longCall(() -> (long) MMAP.invokeExact(address, bytes, protection, flags, descriptor, 0L));
    }

    public static int munmap(final long address, final long bytes) {
        return call(() -> (int) MUNMAP.invokeExact(address, bytes));
    }

    public static int pageBytes() {
        return call(() -> (int) GETPAGESIZE.invokeExact());
    }

    public static int kill(final int process, final int signal) {
        return call(() -> (int) KILL.invokeExact(process, signal));
    }

    public static int clockGettime(final int clock, final MemorySegment timespec) {
        return call(() -> (int) CLOCK_GETTIME.invokeExact(clock, timespec));
    }

    /// Memory at an address that [#mmap] gave, `bytes` long, that is mapped once. It is valid until the arena
    /// closes, which then unmaps it.
    public static MemorySegment mapped(final long address, final long bytes, final Arena arena) {
        return MemorySegment.ofAddress(address).reinterpret(bytes, arena, _ -> {
            if (munmap(address, bytes) != 0) {
                throw new IllegalStateException("munmap refused " + bytes + " bytes at 0x" + Long.toHexString(address));
            }
        });
    }

    private static int call(final IntCall call) {
        try {
            return call.run();
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    private static long longCall(final LongCall call) {
        try {
            return call.run();
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    // Only a mistake in this class makes a downcall throw.
    private static AssertionError unexpected(final Throwable e) {
        return new AssertionError("downcall", e);
    }

    private interface IntCall {
        int run() throws Throwable;
    }

    private interface LongCall {
        long run() throws Throwable;
    }
}
