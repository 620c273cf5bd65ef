package io.framecast.perf.tail;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.libc.SocketOption;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// A socket of Linux that reports when the kernel took each datagram. One thread, which owns the arena.
final class TapSocket implements AutoCloseable {
    /// Bytes of an IPv4 header without options, and of a UDP header behind it.
    static final int IP_AND_UDP_BYTES = 28;

    private static final int BUFFER_BYTES = 8 << 20;
    private static final int TIMEOUT_US = 50_000;
    private static final long NS_PER_SECOND = 1_000_000_000;

    private static final ValueLayout.OfShort NETWORK_SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt NETWORK_INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final Arena arena;
    private final MemorySegment capture;
    private final MemorySegment time;
    private final int descriptor;

    private TapSocket(final Arena arena, final int domain, final int protocol) {
        this.arena = arena;
        capture = Libc.newCapture(arena);
        time = arena.allocate(Linux.TIMESPEC_BYTES, Long.BYTES);
        descriptor = Libc.socket(capture, domain, Linux.SOCK_DGRAM, protocol);
        require(descriptor >= 0, "cannot be opened: run as root");
        final MemorySegment timeout = arena.allocate(Linux.TIMESPEC_BYTES, Long.BYTES);
        timeout.set(JAVA_LONG, Linux.TIMEVAL_MICROS, TIMEOUT_US);
        option(Linux.SOL_SOCKET, Linux.SO_RCVTIMEO, timeout);
        final MemorySegment bytes = arena.allocate(JAVA_INT);
        bytes.set(JAVA_INT, 0, BUFFER_BYTES);
        option(Linux.SOL_SOCKET, Linux.SO_RCVBUFFORCE, bytes);
        // The first question makes the kernel stamp packets from now on.
        timeNs();
    }

    private static void require(final boolean good, final String what) {
        if (!good) {
            throw new IllegalStateException("a socket of the tap " + what);
        }
    }

    /// Receives UDP payloads for any address of this host and for a group, at a port.
    static TapSocket diverted(final Arena arena, final int port, final String group, final String localAddress) {
        final TapSocket socket = new TapSocket(arena, Linux.AF_INET, 0);
        final MemorySegment address = arena.allocate(Linux.SOCKADDR_IN_BYTES, Long.BYTES);
        address.set(JAVA_SHORT, 0, (short) Linux.AF_INET);
        address.set(NETWORK_SHORT, Linux.SIN_PORT, (short) port);
        require(
                Libc.bind(socket.capture, socket.descriptor, address, Linux.SOCKADDR_IN_BYTES) == 0,
                "found port taken");
        final MemorySegment membership = arena.allocate(2 * Integer.BYTES, Integer.BYTES);
        membership.set(NETWORK_INT, 0, number(group));
        membership.set(NETWORK_INT, Integer.BYTES, number(localAddress));
        socket.option(Linux.IPPROTO_IP, Linux.IP_ADD_MEMBERSHIP, membership);
        return socket;
    }

    /// Receives every UDP packet that comes to this host, with its IP header and before anything of it is
    /// lost, but for those to two ports.
    static TapSocket listener(final Arena arena, final int portExcepted, final int otherExcepted) {
        final TapSocket socket = new TapSocket(arena, Linux.AF_PACKET, Linux.ETH_P_IP);
        // Classic BPF: struct sock_filter is u16 code, u8 jump if true, u8 jump if false, u32 operand.
        final long[][] program = {
            {0x30, 0, 0, 9}, // load the byte that says what IP carries
            {0x15, 0, 4, 17}, // UDP, or nothing
            {0x28, 0, 0, 22}, // load the port that it is for
            {0x15, 2, 0, portExcepted},
            {0x15, 1, 0, otherExcepted},
            {0x06, 0, 0, 0xffff}, // take it
            {0x06, 0, 0, 0}, // or do not
        };
        final MemorySegment code = arena.allocate(program.length * (long) Linux.SOCK_FILTER_BYTES, Long.BYTES);
        for (int i = 0; i < program.length; i++) {
            final long at = i * (long) Linux.SOCK_FILTER_BYTES;
            code.set(JAVA_SHORT, at, (short) program[i][0]);
            code.set(JAVA_BYTE, at + Linux.SOCK_FILTER_IF_TRUE, (byte) program[i][1]);
            code.set(JAVA_BYTE, at + Linux.SOCK_FILTER_IF_FALSE, (byte) program[i][2]);
            code.set(JAVA_INT, at + Linux.SOCK_FILTER_OPERAND, (int) program[i][3]);
        }
        final MemorySegment filter = arena.allocate(Linux.SOCK_FPROG_BYTES, Long.BYTES);
        filter.set(JAVA_SHORT, 0, (short) program.length);
        filter.set(ADDRESS, Linux.SOCK_FPROG_FILTER, code);
        socket.option(Linux.SOL_SOCKET, Linux.SO_ATTACH_FILTER, filter);
        return socket;
    }

    private static int number(final String address) {
        int number = 0;
        for (final String part : address.split("\\.", -1)) {
            number = number << Byte.SIZE | Integer.parseInt(part);
        }
        return number;
    }

    private void option(final int level, final int name, final MemorySegment value) {
        require(
                Libc.setsockopt(capture, descriptor, new SocketOption(level, name), value) == 0,
                "does not take option " + level + "." + name);
    }

    /// Waits for a moment.
    ///
    /// @return bytes received, or less than 1 when nothing came
    long receive(final MemorySegment memory) {
        return Libc.recv(descriptor, memory, 0);
    }

    /// When the kernel took the last one that was received, in nanoseconds since the epoch; 0 when it does
    /// not know.
    long timeNs() {
        return Libc.ioctl(descriptor, Linux.SIOCGSTAMPNS, time) == 0
                ? time.get(JAVA_LONG, 0) * NS_PER_SECOND + time.get(JAVA_LONG, Linux.TIMESPEC_NANOS)
                : 0;
    }

    @Override
    public void close() {
        Libc.close(descriptor);
        arena.close();
    }
}
