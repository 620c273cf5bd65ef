package io.framecast.perf.rivals;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.libc.SocketOption;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.UnknownHostException;

/// One blocking IPv4 UDP socket by the C library's own calls. One thread at a time.
final class FloorSocket implements AutoCloseable {
    private static final int SCRATCH_BYTES = 64;

    private final MemorySegment capture;
    private final MemorySegment scratch;
    private final MemorySegment scratchLength;
    private final int fd;

    private FloorSocket(final Arena arena) {
        capture = Libc.newCapture(arena);
        scratch = arena.allocate(SCRATCH_BYTES, Long.BYTES);
        scratchLength = arena.allocate(JAVA_INT);
        fd = Libc.socket(capture, Linux.AF_INET, Linux.SOCK_DGRAM | Linux.SOCK_CLOEXEC, 0);
        check(fd, "socket");
    }

    /// Memory comes from `arena`, which must outlive the socket.
    static FloorSocket open(final Arena arena) {
        return new FloorSocket(arena);
    }

    void bind(final String address, final int port) {
        check(
                Libc.bind(capture, fd, address(address, port), Linux.SOCKADDR_IN_BYTES),
                "bind to " + address + ":" + port);
    }

    void connect(final String address, final int port) {
        check(
                Libc.connect(capture, fd, address(address, port), Linux.SOCKADDR_IN_BYTES),
                "connect to " + address + ":" + port);
    }

    /// Connects it to itself.
    void connectToItself() {
        scratchLength.set(JAVA_INT, 0, SCRATCH_BYTES);
        check(Libc.getsockname(capture, fd, scratch, scratchLength), "getsockname");
        check(Libc.connect(capture, fd, scratch, Linux.SOCKADDR_IN_BYTES), "connect");
    }

    /// Hears a group by the interface that has an address.
    void join(final String group, final String localAddress) {
        final MemorySegment request = scratch.asSlice(0, Linux.IP_MREQN_BYTES).fill((byte) 0);
        putAddress(request, 0, group);
        putAddress(request, Linux.IMR_ADDRESS, localAddress);
        check(
                Libc.setsockopt(capture, fd, new SocketOption(Linux.IPPROTO_IP, Linux.IP_ADD_MEMBERSHIP), request),
                "join " + group + " by " + localAddress);
        option(new SocketOption(Linux.IPPROTO_IP, Linux.IP_MULTICAST_ALL), 0);
    }

    void multicastBy(final String localAddress) {
        final MemorySegment request = scratch.asSlice(0, Integer.BYTES);
        putAddress(request, 0, localAddress);
        check(
                Libc.setsockopt(capture, fd, new SocketOption(Linux.IPPROTO_IP, Linux.IP_MULTICAST_IF), request),
                "multicast by " + localAddress);
        option(new SocketOption(Linux.IPPROTO_IP, Linux.IP_MULTICAST_LOOP), 1);
    }

    void option(final SocketOption option, final int value) {
        if (!tryOption(option, value)) {
            check(-1, "option " + option + " = " + value);
        }
    }

    boolean tryOption(final SocketOption option, final int value) {
        scratch.set(JAVA_INT, 0, value);
        return Libc.setsockopt(capture, fd, option, scratch.asSlice(0, Integer.BYTES)) == 0;
    }

    /// How long a receive waits at most.
    void receiveTimeout(final long milliseconds) {
        final MemorySegment time = scratch.asSlice(0, 2 * Long.BYTES);
        time.setAtIndex(JAVA_LONG, 0, milliseconds / 1_000);
        time.setAtIndex(JAVA_LONG, 1, milliseconds % 1_000 * 1_000);
        check(Libc.setsockopt(capture, fd, new SocketOption(Linux.SOL_SOCKET, Linux.SO_RCVTIMEO), time), "SO_RCVTIMEO");
    }

    /// As Framecast's transport does: past the system's limit where that is permitted, else as much as it
    /// gives.
    ///
    /// @return bytes that the kernel charges datagrams against
    int sizeReceiveBuffer(final int bytes) {
        if (!tryOption(new SocketOption(Linux.SOL_SOCKET, Linux.SO_RCVBUFFORCE), bytes)) {
            option(new SocketOption(Linux.SOL_SOCKET, Linux.SO_RCVBUF), bytes);
        }
        scratchLength.set(JAVA_INT, 0, Integer.BYTES);
        check(
                Libc.getsockopt(
                        capture, fd, new SocketOption(Linux.SOL_SOCKET, Linux.SO_RCVBUF), scratch, scratchLength),
                "SO_RCVBUF");
        return scratch.get(JAVA_INT, 0);
    }

    void sizeSendBuffer(final int bytes) {
        if (!tryOption(new SocketOption(Linux.SOL_SOCKET, Linux.SO_SNDBUFFORCE), bytes)) {
            option(new SocketOption(Linux.SOL_SOCKET, Linux.SO_SNDBUF), bytes);
        }
    }

    /// The content of the receive buffer, as the kernel charges it.
    long chargedBytes() {
        scratchLength.set(JAVA_INT, 0, Linux.MEMINFO_WORDS * Integer.BYTES);
        check(
                Libc.getsockopt(
                        capture, fd, new SocketOption(Linux.SOL_SOCKET, Linux.SO_MEMINFO), scratch, scratchLength),
                "SO_MEMINFO");
        return Integer.toUnsignedLong(scratch.get(JAVA_INT, 0));
    }

    /// Sends all of `count` messages, waiting for room.
    void send(final FloorMessages messages, final int first, final int count) {
        int sent = 0;
        while (sent < count) {
            final int result = Libc.sendmmsg(capture, fd, messages.address(first + sent), count - sent, 0);
            if (result < 0 && Libc.errno(capture) != Linux.EINTR) {
                check(result, "sendmmsg");
            }
            sent += Math.max(0, result);
        }
    }

    /// Sends one message to a peer that may not be there yet, or any more.
    void sendAnyway(final FloorMessages messages) {
        for (int tries = 0; tries < 2; tries++) {
            // The call reports the error of the datagram before, refused by the other machine, here, once.
            if (Libc.sendmmsg(capture, fd, messages.address(0), 1, 0) >= 0
                    || Libc.errno(capture) != Linux.ECONNREFUSED) {
                return;
            }
        }
    }

    /// Waits for at least one message.
    ///
    /// @return how many there are; 0 when the time is over
    int receive(final FloorMessages messages, final int flags) {
        final int result = Libc.recvmmsg(capture, fd, messages.address(0), messages.count(), flags);
        if (result >= 0) {
            return result;
        }
        final int errno = Libc.errno(capture);
        if (errno != Linux.EAGAIN && errno != Linux.EINTR) {
            check(result, "recvmmsg");
        }
        return 0;
    }

    private MemorySegment address(final String address, final int port) {
        scratch.fill((byte) 0);
        scratch.set(JAVA_SHORT, 0, (short) Linux.AF_INET);
        scratch.set(JAVA_BYTE, Linux.SIN_PORT, (byte) (port >> 8));
        scratch.set(JAVA_BYTE, Linux.SIN_PORT + 1, (byte) port);
        putAddress(scratch, Linux.SIN_ADDR, address);
        return scratch;
    }

    private static void putAddress(final MemorySegment target, final long offset, final String address) {
        try {
            MemorySegment.copy(
                    InetAddress.getByName(address).getAddress(), 0, target, JAVA_BYTE, offset, Integer.BYTES);
        } catch (final UnknownHostException e) {
            throw new IllegalArgumentException("expected an IPv4 address, got " + address, e);
        }
    }

    private void check(final int result, final String what) {
        if (result < 0) {
            throw new IllegalStateException("floor: " + what + ": errno " + Libc.errno(capture));
        }
    }

    @Override
    public void close() {
        Libc.close(fd);
    }
}
