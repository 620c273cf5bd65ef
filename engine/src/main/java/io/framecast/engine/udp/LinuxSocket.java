package io.framecast.engine.udp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.framecast.api.error.NativeException;
import io.framecast.engine.ready.ReadySet;
import io.framecast.engine.udp.Sockets.Option;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;

/// Owns one non-blocking UDP socket and turns failures into errors that name the mend; only [#send] and
/// [#receive], the hot calls, give the errno back instead.
///
/// Threading: one thread at a time. Memory comes from the lane's arena, which must outlive the socket.
final class LinuxSocket implements AutoCloseable {
    private static final int SCRATCH_BYTES = 64;
    private static final int CLOSED = -1;

    private final MemorySegment capture;
    private final MemorySegment scratch;
    private final MemorySegment scratchLength;
    private final IpFamily family;
    private int fd;

    private LinuxSocket(final Arena arena, final IpFamily family) {
        this.family = family;
        capture = Sockets.newCapture(arena);
        scratch = arena.allocate(SCRATCH_BYTES, Long.BYTES);
        scratchLength = arena.allocate(JAVA_INT);
        fd = Sockets.socket(
                capture,
                family.number(),
                SocketLayouts.SOCK_DGRAM | SocketLayouts.SOCK_NONBLOCK | SocketLayouts.SOCK_CLOEXEC);
    }

    static LinuxSocket open(final Arena arena, final IpFamily family) {
        final LinuxSocket socket = new LinuxSocket(arena, family);
        socket.check(socket.fd, "socket", "UDP socket over " + family);
        return socket;
    }

    void bind(final Endpoint local, final int interfaceIndex) {
        if (!tryBind(local, interfaceIndex)) {
            throw failure("bind", SocketLayouts.EADDRINUSE, local.toString());
        }
    }

    /// @return false when the port is in use
    boolean tryBind(final Endpoint local, final int interfaceIndex) {
        local.write(scratch, 0, interfaceIndex);
        final int result = Sockets.bind(capture, fd, scratch, family.sockaddrBytes());
        if (result < 0 && Sockets.errno(capture) == SocketLayouts.EADDRINUSE) {
            return false;
        }
        check(result, "bind", local.toString());
        return true;
    }

    void connect(final Endpoint peer, final int interfaceIndex) {
        peer.write(scratch, 0, interfaceIndex);
        check(Sockets.connect(capture, fd, scratch, family.sockaddrBytes()), "connect", peer.toString());
    }

    Endpoint localEndpoint() {
        scratchLength.set(JAVA_INT, 0, SCRATCH_BYTES);
        check(Sockets.getsockname(capture, fd, scratch, scratchLength), "getsockname", "address");
        return Endpoint.read(scratch, 0, family);
    }

    /// Hears a group on an interface.
    void join(final InetAddress group, final int interfaceIndex) {
        final MemorySegment request = membership(group, interfaceIndex);
        check(Sockets.setsockopt(capture, fd, family.membership(), request), "join", group.getHostAddress());
    }

    /// Sends multicast by an interface.
    void multicastBy(final InetAddress group, final int interfaceIndex) {
        final Option option = family.multicastInterface();
        if (family == IpFamily.IPV6) {
            option(option, interfaceIndex);
            return;
        }
        final MemorySegment request = membership(group, interfaceIndex);
        request.set(JAVA_INT, SocketLayouts.IMR_MULTIADDR, 0);
        check(Sockets.setsockopt(capture, fd, option, request), "multicast interface", "interface " + interfaceIndex);
    }

    private MemorySegment membership(final InetAddress group, final int interfaceIndex) {
        final byte[] raw = group.getAddress();
        final boolean isIpv4 = family == IpFamily.IPV4;
        final MemorySegment request = scratch.asSlice(
                        0, isIpv4 ? SocketLayouts.IP_MREQN_BYTES : SocketLayouts.IPV6_MREQ_BYTES)
                .fill((byte) 0);
        MemorySegment.copy(raw, 0, request, JAVA_BYTE, 0, raw.length);
        request.set(JAVA_INT, isIpv4 ? SocketLayouts.IMR_IFINDEX : SocketLayouts.IPV6MR_INTERFACE, interfaceIndex);
        return request;
    }

    void option(final Option option, final int value) {
        if (!tryOption(option, value)) {
            check(-1, "setsockopt", "option " + option.level() + ":" + option.name() + " = " + value);
        }
    }

    /// Sets an option that the system may refuse.
    boolean tryOption(final Option option, final int value) {
        scratch.set(JAVA_INT, 0, value);
        return Sockets.setsockopt(capture, fd, option, scratch.asSlice(0, Integer.BYTES)) == 0;
    }

    int option(final Option option) {
        scratchLength.set(JAVA_INT, 0, Integer.BYTES);
        check(Sockets.getsockopt(capture, fd, option, scratch, scratchLength), "getsockopt", "option " + option.name());
        return scratch.get(JAVA_INT, 0);
    }

    /// One word of SO_MEMINFO, unsigned; 0 where the kernel does not tell.
    long memoryInfo(final int word) {
        scratchLength.set(JAVA_INT, 0, SocketLayouts.MEMINFO_WORDS * Integer.BYTES);
        final Option option = new Option(SocketLayouts.SOL_SOCKET, SocketLayouts.SO_MEMINFO);
        final boolean told = Sockets.getsockopt(capture, fd, option, scratch, scratchLength) == 0
                && scratchLength.get(JAVA_INT, 0) > word * Integer.BYTES;
        return told ? Integer.toUnsignedLong(scratch.getAtIndex(JAVA_INT, word)) : 0;
    }

    /// Sends `count` messages of an array.
    ///
    /// @return how many were sent, at least 1, or the errno of the first, negative
    int send(final long messages, final int count) {
        while (true) {
            final int sent = Sockets.sendmmsg(capture, fd, messages, count, SocketLayouts.MSG_DONTWAIT);
            if (sent >= 0) {
                return sent;
            }
            final int errno = Sockets.errno(capture);
            if (errno != SocketLayouts.EINTR) {
                return -errno;
            }
        }
    }

    /// Receives up to `count` messages into an array.
    ///
    /// @return how many were received, at least 1, or the errno, negative
    int receive(final long messages, final int count) {
        while (true) {
            final int received = Sockets.recvmmsg(capture, fd, messages, count, SocketLayouts.MSG_DONTWAIT);
            if (received >= 0) {
                return received;
            }
            final int errno = Sockets.errno(capture);
            if (errno != SocketLayouts.EINTR) {
                return -errno;
            }
        }
    }

    int descriptor() {
        return fd;
    }

    /// Has a set poll readable while this socket does.
    void watch(final ReadySet ready, final int tag) {
        ready.add(fd, tag);
    }

    private void check(final int result, final String function, final String what) {
        if (result >= 0) {
            return;
        }
        throw failure(function, Sockets.errno(capture), what);
    }

    private NativeException failure(final String function, final int errno, final String what) {
        close();
        return new NativeException(function, errno, what + ": " + mend(errno));
    }

    private static String mend(final int errno) {
        return switch (errno) {
            case SocketLayouts.EADDRINUSE ->
                "in use by a program that does not share it; choose another port in group= or stop that program";
            case SocketLayouts.EACCES, SocketLayouts.EPERM ->
                "not permitted; choose a port above 1023 or run with the right to use it";
            case SocketLayouts.EADDRNOTAVAIL -> "no address of this machine; check interface=";
            case SocketLayouts.ENODEV -> "no such interface, or it takes no multicast; check interface=";
            case SocketLayouts.ENETUNREACH ->
                "no route by this interface; choose another in interface=, or add a multicast route"
                        + " (IPv6 multicast does not work on lo)";
            case SocketLayouts.EAFNOSUPPORT -> "the system lacks this family; use an IPv4 group";
            case SocketLayouts.EMFILE -> "too many open files; raise ulimit -n";
            case SocketLayouts.ENOBUFS, SocketLayouts.ENOMEM ->
                "the system is out of room; leave groups or raise net.ipv4.igmp_max_memberships";
            default -> "refused by the system; see errno(3)";
        };
    }

    @Override
    public void close() {
        if (fd >= 0) {
            Sockets.close(capture, fd);
        }
        fd = CLOSED;
    }
}
