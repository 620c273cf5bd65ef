package io.framecast.perf.harness;

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
import java.net.InetAddress;
import java.util.NoSuchElementException;

/// One IPv4 socket for datagrams by the C library's own calls. One thread at a time.
public final class LinuxSocket implements AutoCloseable {
    private static final int SCRATCH_BYTES = 64;
    private static final long NS_PER_SECOND = 1_000_000_000;

    private final Arena arena;
    private final MemorySegment capture;
    private final MemorySegment scratch;
    private final MemorySegment scratchLength;
    private final int fd;

    /// @param arena memory comes from it: it must outlive the socket
    private LinuxSocket(final Arena arena, final int family, final int type, final int protocol) {
        this.arena = arena;
        capture = Libc.newCapture(arena);
        scratch = arena.allocate(SCRATCH_BYTES, Long.BYTES);
        scratchLength = arena.allocate(JAVA_INT);
        fd = Libc.socket(capture, family, type | Linux.SOCK_CLOEXEC, protocol);
        check(fd, "cannot be opened; those for whole packets need root");
    }

    public static LinuxSocket udp(final Arena arena) {
        return new LinuxSocket(arena, Linux.AF_INET, Linux.SOCK_DGRAM, 0);
    }

    /// Sends packets whose IP header the caller writes. Needs root.
    public static LinuxSocket packetSender(final Arena arena) {
        return new LinuxSocket(arena, Linux.AF_INET, Linux.SOCK_RAW, Linux.IPPROTO_RAW);
    }

    /// Sees every IP packet that comes to this host, for any address, before a filter can drop it. Needs root.
    public static LinuxSocket packetListener(final Arena arena) {
        return new LinuxSocket(arena, Linux.AF_PACKET, Linux.SOCK_DGRAM, Linux.ETH_P_IP);
    }

    /// Whether this kernel takes and gives several datagrams at once.
    public static boolean hasBatching() {
        try (Arena arena = Arena.ofConfined();
                LinuxSocket socket = udp(arena)) {
            return socket.tryOption(Linux.SOL_UDP, Linux.UDP_SEGMENT, 1_000)
                    && socket.tryOption(Linux.SOL_UDP, Linux.UDP_GRO, 1);
        } catch (final IllegalStateException | LinkageError | NoSuchElementException e) {
            return false;
        }
    }

    public void bind(final String address, final int port) {
        check(
                Libc.bind(capture, fd, address(address, port), Linux.SOCKADDR_IN_BYTES),
                "bind to " + address + ":" + port);
    }

    public void connect(final String address, final int port) {
        check(
                Libc.connect(capture, fd, address(address, port), Linux.SOCKADDR_IN_BYTES),
                "connect to " + address + ":" + port);
    }

    /// Connects it to itself.
    public void connectToItself() {
        scratchLength.set(JAVA_INT, 0, SCRATCH_BYTES);
        check(Libc.getsockname(capture, fd, scratch, scratchLength), "getsockname");
        check(Libc.connect(capture, fd, scratch, Linux.SOCKADDR_IN_BYTES), "connect");
    }

    /// Hears a group by the interface that has an address.
    public void join(final String group, final String localAddress) {
        final MemorySegment request = scratch.asSlice(0, Linux.IP_MREQN_BYTES).fill((byte) 0);
        putAddress(request, 0, group);
        putAddress(request, Linux.IMR_ADDRESS, localAddress);
        set(Linux.IPPROTO_IP, Linux.IP_ADD_MEMBERSHIP, request);
        option(Linux.IPPROTO_IP, Linux.IP_MULTICAST_ALL, 0);
    }

    public void multicastBy(final String localAddress) {
        final MemorySegment request = scratch.asSlice(0, Integer.BYTES);
        putAddress(request, 0, localAddress);
        set(Linux.IPPROTO_IP, Linux.IP_MULTICAST_IF, request);
        option(Linux.IPPROTO_IP, Linux.IP_MULTICAST_LOOP, 1);
    }

    public void option(final int level, final int name, final int value) {
        scratch.set(JAVA_INT, 0, value);
        set(level, name, scratch.asSlice(0, Integer.BYTES));
    }

    public boolean tryOption(final int level, final int name, final int value) {
        scratch.set(JAVA_INT, 0, value);
        return Libc.setsockopt(capture, fd, new SocketOption(level, name), scratch.asSlice(0, Integer.BYTES)) == 0;
    }

    private void set(final int level, final int name, final MemorySegment value) {
        final SocketOption option = new SocketOption(level, name);
        check(Libc.setsockopt(capture, fd, option, value), "cannot set " + option);
    }

    private int get(final int name, final int bytes) {
        final SocketOption option = new SocketOption(Linux.SOL_SOCKET, name);
        scratchLength.set(JAVA_INT, 0, bytes);
        check(Libc.getsockopt(capture, fd, option, scratch, scratchLength), "cannot get " + option);
        return scratch.get(JAVA_INT, 0);
    }

    /// How long a receive waits at most.
    public void receiveTimeout(final long milliseconds) {
        final MemorySegment time = scratch.asSlice(0, 2 * Long.BYTES);
        time.setAtIndex(JAVA_LONG, 0, milliseconds / 1_000);
        time.setAtIndex(JAVA_LONG, 1, milliseconds % 1_000 * 1_000);
        set(Linux.SOL_SOCKET, Linux.SO_RCVTIMEO, time);
    }

    /// As Framecast's transport does: past the system's limit where that is permitted, else as much as it
    /// gives.
    ///
    /// @return bytes that the kernel charges datagrams against
    public int sizeReceiveBuffer(final int bytes) {
        if (!tryOption(Linux.SOL_SOCKET, Linux.SO_RCVBUFFORCE, bytes)) {
            option(Linux.SOL_SOCKET, Linux.SO_RCVBUF, bytes);
        }
        return get(Linux.SO_RCVBUF, Integer.BYTES);
    }

    public void sizeSendBuffer(final int bytes) {
        if (!tryOption(Linux.SOL_SOCKET, Linux.SO_SNDBUFFORCE, bytes)) {
            option(Linux.SOL_SOCKET, Linux.SO_SNDBUF, bytes);
        }
    }

    /// The content of the receive buffer, as the kernel charges it.
    public long chargedBytes() {
        return Integer.toUnsignedLong(get(Linux.SO_MEMINFO, Linux.MEMINFO_WORDS * Integer.BYTES));
    }

    /// Sends messages of `struct mmsghdr`.
    ///
    /// @return how many were sent; less than 0 when none was, and [#errno] says why
    public int send(final long messages, final int count) {
        return Libc.sendmmsg(capture, fd, messages, count, 0);
    }

    /// Waits for at least one message of `struct mmsghdr`.
    ///
    /// @return how many there are; 0 when the time is over
    public int receive(final long messages, final int count, final int flags) {
        final int result = Libc.recvmmsg(capture, fd, messages, count, flags);
        if (result < 0 && errno() != Linux.EAGAIN && errno() != Linux.EINTR) {
            check(result, "recvmmsg");
        }
        return Math.max(0, result);
    }

    public int errno() {
        return Libc.errno(capture);
    }

    /// Sends a packet whose IP header the caller wrote.
    ///
    /// @return whether the system took it
    public boolean sendTo(final MemorySegment packet, final String destination) {
        return Libc.sendto(fd, packet, address(destination, 0), Linux.SOCKADDR_IN_BYTES) >= 0;
    }

    /// @return the bytes of the next datagram or packet in `memory`; less than 1 when none came in time
    public long receive(final MemorySegment memory, final int flags) {
        return Libc.recv(fd, memory, flags);
    }

    /// When the kernel took the last datagram that was received, in nanoseconds since the epoch; 0 when it does
    /// not know. The first question makes the kernel stamp packets from then on.
    public long timeNs() {
        return Libc.ioctl(fd, Linux.SIOCGSTAMPNS, scratch) == 0
                ? scratch.get(JAVA_LONG, 0) * NS_PER_SECOND + scratch.get(JAVA_LONG, Linux.TIMESPEC_NANOS)
                : 0;
    }

    /// Receives from now on only what a program of classic BPF takes.
    ///
    /// @param program of `struct sock_filter`: u16 code, u8 jump if true, u8 jump if false, u32 operand
    public void filter(final long[]... program) {
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
        set(Linux.SOL_SOCKET, Linux.SO_ATTACH_FILTER, filter);
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
        MemorySegment.copy(InetAddress.ofLiteral(address).getAddress(), 0, target, JAVA_BYTE, offset, Integer.BYTES);
    }

    private void check(final int result, final String what) {
        if (result < 0) {
            throw new IllegalStateException("socket: " + what + ": errno " + errno());
        }
    }

    @Override
    public void close() {
        Libc.close(fd);
    }
}
