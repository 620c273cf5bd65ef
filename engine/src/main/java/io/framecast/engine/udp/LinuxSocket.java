package io.framecast.engine.udp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.framecast.api.error.NativeException;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.libc.SocketOption;
import io.framecast.reliability.memory.Words;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;

/// Owns one non-blocking UDP socket. A failure becomes an error that says how to fix it; only the hot calls
/// [#send] and [#receive] return the errno instead.
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
        capture = Libc.newCapture(arena);
        scratch = arena.allocate(SCRATCH_BYTES, Long.BYTES);
        scratchLength = arena.allocate(JAVA_INT);
        fd = Libc.socket(capture, family.number, Linux.SOCK_DGRAM | Linux.SOCK_NONBLOCK | Linux.SOCK_CLOEXEC, 0);
    }

    static LinuxSocket open(final Arena arena, final IpFamily family) {
        final LinuxSocket socket = new LinuxSocket(arena, family);
        socket.check(socket.fd, "socket", "UDP socket over " + family);
        if (family == IpFamily.IPV6) {
            socket.option(new SocketOption(Linux.IPPROTO_IPV6, Linux.IPV6_V6ONLY), 1);
        }
        return socket;
    }

    void bind(final Endpoint local, final int interfaceIndex) {
        if (!tryBind(local, interfaceIndex)) {
            throw failure("bind", Linux.EADDRINUSE, local.toString());
        }
    }

    /// @return false when the port is in use
    boolean tryBind(final Endpoint local, final int interfaceIndex) {
        local.write(scratch, 0, interfaceIndex);
        final int result = Libc.bind(capture, fd, scratch, family.sockaddrBytes);
        if (result < 0 && Libc.errno(capture) == Linux.EADDRINUSE) {
            return false;
        }
        check(result, "bind", local.toString());
        return true;
    }

    void connect(final Endpoint peer, final int interfaceIndex) {
        peer.write(scratch, 0, interfaceIndex);
        check(Libc.connect(capture, fd, scratch, family.sockaddrBytes), "connect", peer.toString());
    }

    Endpoint localEndpoint() {
        Words.setInt(scratchLength, 0, SCRATCH_BYTES);
        check(Libc.getsockname(capture, fd, scratch, scratchLength), "getsockname", "address");
        return Endpoint.read(scratch, 0, family);
    }

    /// Joins a group on an interface.
    void join(final InetAddress group, final int interfaceIndex) {
        final MemorySegment request = membership(group, interfaceIndex);
        check(
                Libc.setsockopt(
                        capture, fd, family.option(Linux.IP_ADD_MEMBERSHIP, Linux.IPV6_ADD_MEMBERSHIP), request),
                "join",
                group.getHostAddress());
    }

    /// Selects the interface that multicast leaves by.
    void multicastBy(final InetAddress group, final int interfaceIndex) {
        final SocketOption option = family.option(Linux.IP_MULTICAST_IF, Linux.IPV6_MULTICAST_IF);
        if (family == IpFamily.IPV6) {
            option(option, interfaceIndex);
            return;
        }
        final MemorySegment request = membership(group, interfaceIndex);
        Words.setInt(request, Linux.IMR_MULTIADDR, 0);
        check(Libc.setsockopt(capture, fd, option, request), "multicast interface", "interface " + interfaceIndex);
    }

    private MemorySegment membership(final InetAddress group, final int interfaceIndex) {
        final byte[] raw = group.getAddress();
        final boolean isIpv4 = family == IpFamily.IPV4;
        final MemorySegment request = scratch.asSlice(0, isIpv4 ? Linux.IP_MREQN_BYTES : Linux.IPV6_MREQ_BYTES)
                .fill((byte) 0);
        MemorySegment.copy(raw, 0, request, JAVA_BYTE, 0, raw.length);
        Words.setInt(request, isIpv4 ? Linux.IMR_IFINDEX : Linux.IPV6MR_INTERFACE, interfaceIndex);
        return request;
    }

    void option(final SocketOption option, final int value) {
        if (!tryOption(option, value)) {
            check(-1, "setsockopt", "option " + option.level() + ":" + option.name() + " = " + value);
        }
    }

    /// Sets an option that the system may refuse.
    boolean tryOption(final SocketOption option, final int value) {
        Words.setInt(scratch, 0, value);
        return Libc.setsockopt(capture, fd, option, scratch.asSlice(0, Integer.BYTES)) == 0;
    }

    int option(final SocketOption option) {
        Words.setInt(scratchLength, 0, Integer.BYTES);
        check(Libc.getsockopt(capture, fd, option, scratch, scratchLength), "getsockopt", "option " + option.name());
        return Words.getInt(scratch, 0);
    }

    /// One word of SO_MEMINFO, unsigned; 0 where the kernel lacks it.
    long memoryInfo(final int word) {
        Words.setInt(scratchLength, 0, Linux.MEMINFO_WORDS * Integer.BYTES);
        final SocketOption option = new SocketOption(Linux.SOL_SOCKET, Linux.SO_MEMINFO);
        final boolean known = Libc.getsockopt(capture, fd, option, scratch, scratchLength) == 0
                && Words.getInt(scratchLength, 0) > word * Integer.BYTES;
        return known ? Integer.toUnsignedLong(scratch.getAtIndex(JAVA_INT, word)) : 0;
    }

    /// Sends `count` messages of an array.
    ///
    /// @return how many were sent, at least 1, or the errno of the first, negative
    int send(final long messages, final int count) {
        int sent;
        do {
            sent = Libc.sendmmsg(capture, fd, messages, count, Linux.MSG_DONTWAIT);
        } while (sent < 0 && Libc.errno(capture) == Linux.EINTR);
        return sent < 0 ? -Libc.errno(capture) : sent;
    }

    /// Receives up to `count` messages into an array.
    ///
    /// @return how many were received, at least 1, or the errno, negative
    int receive(final long messages, final int count) {
        int received;
        do {
            received = Libc.recvmmsg(capture, fd, messages, count, Linux.MSG_DONTWAIT);
        } while (received < 0 && Libc.errno(capture) == Linux.EINTR);
        return received < 0 ? -Libc.errno(capture) : received;
    }

    int descriptor() {
        return fd;
    }

    private void check(final int result, final String function, final String what) {
        if (result >= 0) {
            return;
        }
        throw failure(function, Libc.errno(capture), what);
    }

    private NativeException failure(final String function, final int errno, final String what) {
        close();
        return new NativeException(function, errno, what + ": " + howToFix(errno));
    }

    private static String howToFix(final int errno) {
        return switch (errno) {
            case Linux.EADDRINUSE ->
                "in use by a program that does not share it; choose another port in group= or stop that program";
            case Linux.EACCES, Linux.EPERM -> "not permitted; choose a port above 1023 or run with the right to use it";
            case Linux.EADDRNOTAVAIL -> "no address of this machine; check interface=";
            case Linux.ENODEV -> "no such interface, or it takes no multicast; check interface=";
            case Linux.ENETUNREACH ->
                "no route by this interface; choose another in interface=, or add a multicast route"
                        + " (IPv6 multicast does not work on lo)";
            case Linux.EAFNOSUPPORT -> "the system lacks this family; use an IPv4 group";
            case Linux.EMFILE -> "too many open files; raise ulimit -n";
            case Linux.ENOBUFS, Linux.ENOMEM ->
                "the system is out of room; leave groups or raise net.ipv4.igmp_max_memberships";
            default -> "refused by the system; see errno(3)";
        };
    }

    @Override
    public void close() {
        if (fd >= 0) {
            Libc.close(fd);
        }
        fd = CLOSED;
    }
}
