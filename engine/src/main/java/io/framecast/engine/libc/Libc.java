package io.framecast.engine.libc;

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
/// calls. The other calls keep no errno, because no caller decides by it. The kernel gets plain addresses, so memory
/// that a call reads or writes must stay open until the call returns.
///
/// All calls share one signature, six words in and one out: a signature costs the JVM about ten classes, made while
/// the process starts. On the 64-bit ABIs of Linux every argument here has a register of its own; a call that takes
/// fewer leaves the rest alone, one that takes an `int` reads half of a register, and one that returns an `int` sets
/// half of it.
///
/// Loading this class fails with a [LinkageError] where a call is absent: ask [Linux#isPresent] first.
public final class Libc {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final StructLayout CAPTURE = Linker.Option.captureStateLayout();
    private static final long ERRNO = CAPTURE.byteOffset(MemoryLayout.PathElement.groupElement("errno"));
    private static final FunctionDescriptor SIX_WORDS =
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle PLAIN = LINKER.downcallHandle(SIX_WORDS);
    private static final MethodHandle CAPTURING =
            LINKER.downcallHandle(SIX_WORDS, Linker.Option.captureCallState("errno"));

    private static final MemorySegment SOCKET = find("socket");
    private static final MemorySegment BIND = find("bind");
    private static final MemorySegment CONNECT = find("connect");
    private static final MemorySegment GETSOCKNAME = find("getsockname");
    private static final MemorySegment SETSOCKOPT = find("setsockopt");
    private static final MemorySegment GETSOCKOPT = find("getsockopt");
    private static final MemorySegment SENDMMSG = find("sendmmsg");
    private static final MemorySegment RECVMMSG = find("recvmmsg");

    private static final MemorySegment SENDTO = find("sendto");
    private static final MemorySegment RECV = find("recv");
    private static final MemorySegment IOCTL = find("ioctl");
    private static final MemorySegment ADJTIMEX = find("adjtimex");
    private static final MemorySegment LISTEN = find("listen");
    private static final MemorySegment ACCEPT4 = find("accept4");
    private static final MemorySegment SENDMSG = find("sendmsg");
    private static final MemorySegment RECVMSG = find("recvmsg");
    private static final MemorySegment FCNTL = find("fcntl");
    private static final MemorySegment OPEN = find("open");
    private static final MemorySegment LSEEK = find("lseek");
    private static final MemorySegment GETUID = find("getuid");
    private static final MemorySegment CLOSE = find("close");
    private static final MemorySegment READ = find("read");
    private static final MemorySegment WRITE = find("write");
    private static final MemorySegment EVENTFD = find("eventfd");
    private static final MemorySegment EPOLL_CREATE = find("epoll_create1");
    private static final MemorySegment EPOLL_CTL = find("epoll_ctl");
    private static final MemorySegment EPOLL_WAIT = find("epoll_wait");
    private static final MemorySegment PPOLL = find("ppoll");

    private static final MemorySegment MEMFD_CREATE = find("memfd_create");
    private static final MemorySegment FALLOCATE = find("posix_fallocate");
    private static final MemorySegment FTRUNCATE = find("ftruncate");
    private static final MemorySegment MMAP = find("mmap");
    private static final MemorySegment MUNMAP = find("munmap");
    private static final MemorySegment MREMAP = find("mremap");
    private static final MemorySegment MEMCPY = find("memcpy");
    private static final MemorySegment GETPAGESIZE = find("getpagesize");
    private static final MemorySegment SYSCALL = find("syscall");

    private static final MemorySegment KILL = find("kill");
    private static final MemorySegment STRERROR = find("strerror");
    private static final MemorySegment CLOCK_GETTIME = find("clock_gettime");

    // More than any text of strerror has.
    private static final int ERROR_TEXT_BYTES = 1024;

    private Libc() {}

    private static MemorySegment find(final String name) {
        return LINKER.defaultLookup().findOrThrow(name);
    }

    private static long call(
            final MemorySegment function,
            final long a,
            final long b,
            final long c,
            final long d,
            final long e,
            final long f) {
        try {
            return (long) PLAIN.invokeExact(function, a, b, c, d, e, f);
        } catch (final Throwable thrown) {
            throw unexpected(thrown);
        }
    }

    private static int capturing(
            final MemorySegment function,
            final MemorySegment capture,
            final long a,
            final long b,
            final long c,
            final long d,
            final long e) {
        try {
            return (int) (long) CAPTURING.invokeExact(function, capture, a, b, c, d, e, 0L);
        } catch (final Throwable thrown) {
            throw unexpected(thrown);
        }
    }

    // Only a mistake in this class makes a downcall throw.
    private static AssertionError unexpected(final Throwable e) {
        return new AssertionError("downcall", e);
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
        return capturing(SOCKET, capture, family, type, protocol, 0, 0);
    }

    public static int bind(
            final MemorySegment capture, final int descriptor, final MemorySegment address, final int addressBytes) {
        return capturing(BIND, capture, descriptor, address.address(), addressBytes, 0, 0);
    }

    public static int connect(
            final MemorySegment capture, final int descriptor, final MemorySegment address, final int addressBytes) {
        return capturing(CONNECT, capture, descriptor, address.address(), addressBytes, 0, 0);
    }

    public static int getsockname(
            final MemorySegment capture,
            final int descriptor,
            final MemorySegment address,
            final MemorySegment addressBytes) {
        return capturing(GETSOCKNAME, capture, descriptor, address.address(), addressBytes.address(), 0, 0);
    }

    public static int setsockopt(
            final MemorySegment capture, final int descriptor, final SocketOption option, final MemorySegment value) {
        return capturing(
                SETSOCKOPT, capture, descriptor, option.level(), option.name(), value.address(), value.byteSize());
    }

    public static int getsockopt(
            final MemorySegment capture,
            final int descriptor,
            final SocketOption option,
            final MemorySegment value,
            final MemorySegment valueBytes) {
        return capturing(
                GETSOCKOPT, capture, descriptor, option.level(), option.name(), value.address(), valueBytes.address());
    }

    /// Sends an array of `struct mmsghdr` at an address.
    public static int sendmmsg(
            final MemorySegment capture, final int descriptor, final long messages, final int count, final int flags) {
        return capturing(SENDMMSG, capture, descriptor, messages, count, flags, 0);
    }

    /// Receives into an array of `struct mmsghdr` at an address, without a timeout of its own.
    public static int recvmmsg(
            final MemorySegment capture, final int descriptor, final long messages, final int count, final int flags) {
        return capturing(RECVMMSG, capture, descriptor, messages, count, flags, 0);
    }

    public static long sendto(
            final int descriptor, final MemorySegment bytes, final MemorySegment address, final int addressBytes) {
        return call(SENDTO, descriptor, bytes.address(), bytes.byteSize(), 0, address.address(), addressBytes);
    }

    public static long recv(final int descriptor, final MemorySegment bytes, final int flags) {
        return call(RECV, descriptor, bytes.address(), bytes.byteSize(), flags, 0, 0);
    }

    /// Takes its third argument as a variadic one, which has a register too.
    public static int ioctl(final int descriptor, final long request, final MemorySegment argument) {
        return (int) call(IOCTL, descriptor, request, argument.address(), 0, 0, 0);
    }

    /// @param timex [Linux#TIMEX_BYTES] bytes of 0, so that nothing is set
    /// @return the clock's state, or negative on failure
    public static int adjtimex(final MemorySegment timex) {
        return (int) call(ADJTIMEX, timex.address(), 0, 0, 0, 0, 0);
    }

    public static int listen(final int descriptor, final int backlog) {
        return (int) call(LISTEN, descriptor, backlog, 0, 0, 0, 0);
    }

    /// Accepts a connection without its address.
    public static int accept4(final int descriptor, final int flags) {
        return (int) call(ACCEPT4, descriptor, 0, 0, flags, 0, 0);
    }

    /// Sends one `struct msghdr`.
    public static long sendmsg(final int descriptor, final MemorySegment message, final int flags) {
        return call(SENDMSG, descriptor, message.address(), flags, 0, 0, 0);
    }

    /// Receives into one `struct msghdr`.
    public static int recvmsg(
            final MemorySegment capture, final int descriptor, final MemorySegment message, final int flags) {
        return capturing(RECVMSG, capture, descriptor, message.address(), flags, 0, 0);
    }

    /// Takes its third argument as a variadic one, which has a register too.
    public static int fcntl(final int descriptor, final int command, final long argument) {
        return (int) call(FCNTL, descriptor, command, argument, 0, 0, 0);
    }

    /// Whether a memory file can never be made shorter. False for files of other kinds, which have no seals.
    public static boolean isSealed(final int descriptor) {
        final int seals = fcntl(descriptor, Linux.F_GET_SEALS, 0);
        return seals >= 0 && (seals & Linux.F_SEAL_SHRINK) != 0;
    }

    public static int open(final MemorySegment path, final int flags) {
        return (int) call(OPEN, path.address(), flags, 0, 0, 0, 0);
    }

    /// The length of a file, whose offset is then at its end; −1 on failure.
    public static long length(final int descriptor) {
        return call(LSEEK, descriptor, 0, Linux.SEEK_END, 0, 0, 0);
    }

    public static long getuid() {
        return call(GETUID, 0, 0, 0, 0, 0, 0) & 0xffff_ffffL;
    }

    public static int close(final int descriptor) {
        return (int) call(CLOSE, descriptor, 0, 0, 0, 0, 0);
    }

    public static long read(final int descriptor, final long address, final long bytes) {
        return call(READ, descriptor, address, bytes, 0, 0, 0);
    }

    public static long write(final int descriptor, final long address, final long bytes) {
        return call(WRITE, descriptor, address, bytes, 0, 0, 0);
    }

    public static int eventfd(final int initial, final int flags) {
        return (int) call(EVENTFD, initial, flags, 0, 0, 0, 0);
    }

    public static int epollCreate(final int flags) {
        return (int) call(EPOLL_CREATE, flags, 0, 0, 0, 0, 0);
    }

    public static int epollCtl(final int epoll, final int operation, final int descriptor, final MemorySegment event) {
        return (int) call(EPOLL_CTL, epoll, operation, descriptor, event.address(), 0, 0);
    }

    public static int epollWait(final int epoll, final long events, final int eventsMax, final int timeoutMs) {
        return (int) call(EPOLL_WAIT, epoll, events, eventsMax, timeoutMs, 0, 0);
    }

    public static int ppoll(final long pollfds, final long count, final long timespec) {
        return (int) call(PPOLL, pollfds, count, timespec, 0, 0, 0);
    }

    public static int memfdCreate(final MemorySegment name, final int flags) {
        return (int) call(MEMFD_CREATE, name.address(), flags, 0, 0, 0, 0);
    }

    /// Allocates a file's bytes from its start. Returns the error itself, not -1, as in C.
    public static int posixFallocate(final int descriptor, final long bytes) {
        return (int) call(FALLOCATE, descriptor, 0, bytes, 0, 0, 0);
    }

    /// Sets a file's length, and allocates nothing.
    public static int ftruncate(final int descriptor, final long bytes) {
        return (int) call(FTRUNCATE, descriptor, bytes, 0, 0, 0, 0);
    }

    /// Maps a descriptor from its start.
    public static long mmap(
            final long address, final long bytes, final int protection, final int flags, final int descriptor) {
        return call(MMAP, address, bytes, protection, flags, descriptor, 0);
    }

    /// Maps a part of a descriptor over the mapping at an address.
    ///
    /// @param offset of the part, a multiple of the page
    public static long mmapAt(
            final long address,
            final long bytes,
            final int protection,
            final int flags,
            final int descriptor,
            final long offset) {
        return call(MMAP, address, bytes, protection, flags | Linux.MAP_FIXED, descriptor, offset);
    }

    /// Moves a mapping over the mapping at another address, which no access sees unmapped.
    public static long mremapOver(final long address, final long bytes, final long target) {
        return call(MREMAP, address, bytes, bytes, Linux.MREMAP_MAYMOVE | Linux.MREMAP_FIXED, target, 0);
    }

    /// Copies between mappings that no segment stands for.
    public static void memcpy(final long target, final long source, final long bytes) {
        call(MEMCPY, target, source, bytes, 0, 0, 0);
    }

    public static int munmap(final long address, final long bytes) {
        return (int) call(MUNMAP, address, bytes, 0, 0, 0, 0);
    }

    public static int pageBytes() {
        return (int) call(GETPAGESIZE, 0, 0, 0, 0, 0, 0);
    }

    /// The memory policy of the calling thread.
    ///
    /// @param mode one `int`, receives it
    public static int getMempolicy(final MemorySegment mode) {
        return (int) call(SYSCALL, Linux.SYS_GET_MEMPOLICY, mode.address(), 0, 0, 0, 0);
    }

    /// Where memory comes from that the calling thread touches first.
    ///
    /// @param nodes a bit for each NUMA node; [MemorySegment#NULL] for none
    public static int setMempolicy(final MemorySegment capture, final int mode, final MemorySegment nodes) {
        // The kernel reads one bit less than this number.
        final long bits = nodes.byteSize() * Byte.SIZE + 1;
        return capturing(SYSCALL, capture, Linux.SYS_SET_MEMPOLICY, mode, nodes.address(), bits, 0);
    }

    public static int kill(final int process, final int signal) {
        return (int) call(KILL, process, signal, 0, 0, 0, 0);
    }

    /// The meaning of an errno.
    public static String strerror(final int error) {
        return MemorySegment.ofAddress(call(STRERROR, error, 0, 0, 0, 0, 0))
                .reinterpret(ERROR_TEXT_BYTES)
                .getString(0);
    }

    public static int clockGettime(final int clock, final MemorySegment timespec) {
        return (int) call(CLOCK_GETTIME, clock, timespec.address(), 0, 0, 0, 0);
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
}
