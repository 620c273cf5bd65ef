package io.framecast.perf.tail;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.ByteOrder;

/// A socket of Linux that reports when the kernel took each datagram. One thread, which owns the arena.
final class TapSocket implements AutoCloseable {
    /// Bytes of an IPv4 header without options, and of a UDP header behind it.
    static final int IP_AND_UDP_BYTES = 28;

    private static final int AF_INET = 2;
    private static final int AF_PACKET = 17;
    private static final int SOCK_DGRAM = 2;
    // ETH_P_IP in network order: what comes in, not what goes out.
    private static final int ETH_P_IP = 0x0008;
    private static final int SOL_SOCKET = 1;
    private static final int SO_RCVTIMEO = 20;
    private static final int SO_ATTACH_FILTER = 26;
    private static final int SO_RCVBUFFORCE = 33;
    private static final int IPPROTO_IP = 0;
    private static final int IP_ADD_MEMBERSHIP = 35;
    private static final long SIOCGSTAMPNS = 0x8907;
    private static final int SOCKADDR_IN_BYTES = 16;
    private static final int BUFFER_BYTES = 8 << 20;
    private static final int TIMEOUT_US = 50_000;
    private static final long NS_PER_SECOND = 1_000_000_000;

    private static final ValueLayout.OfShort NETWORK_SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt NETWORK_INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private static final MethodHandle SOCKET =
            call("socket", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle BIND = call("bind", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle SETSOCKOPT =
            call("setsockopt", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle RECEIVE =
            call("recv", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT));
    private static final MethodHandle IOCTL = call(
            "ioctl", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS), Linker.Option.firstVariadicArg(2));
    private static final MethodHandle CLOSE = call("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));

    private final Arena arena;
    private final MemorySegment time;
    private final int descriptor;

    private TapSocket(final Arena arena, final int domain, final int protocol) {
        this.arena = arena;
        time = arena.allocate(2 * Long.BYTES, Long.BYTES);
        try {
            descriptor = (int) SOCKET.invokeExact(domain, SOCK_DGRAM, protocol);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
        require(descriptor >= 0, "cannot be opened: run as root");
        final MemorySegment timeout = arena.allocate(2 * Long.BYTES, Long.BYTES);
        timeout.set(JAVA_LONG, Long.BYTES, TIMEOUT_US);
        option(SOL_SOCKET, SO_RCVTIMEO, timeout);
        final MemorySegment bytes = arena.allocate(JAVA_INT);
        bytes.set(JAVA_INT, 0, BUFFER_BYTES);
        option(SOL_SOCKET, SO_RCVBUFFORCE, bytes);
        // Asked for once, so that packets are stamped from now on.
        timeNs();
    }

    @SuppressWarnings("restricted")
    private static MethodHandle call(
            final String name, final FunctionDescriptor descriptor, final Linker.Option... options) {
        final Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().find(name).orElseThrow(), descriptor, options);
    }

    // A downcall throws nothing but what our own mistakes cause.
    private static AssertionError unexpected(final Throwable e) {
        return new AssertionError("downcall", e);
    }

    private static void require(final boolean good, final String what) {
        if (!good) {
            throw new IllegalStateException("a socket of the tap " + what);
        }
    }

    /// Receives UDP payloads for any address of this host and for a group, at a port.
    static TapSocket diverted(final Arena arena, final int port, final String group, final String localAddress) {
        final TapSocket socket = new TapSocket(arena, AF_INET, 0);
        final MemorySegment address = arena.allocate(SOCKADDR_IN_BYTES, Long.BYTES);
        address.set(JAVA_SHORT, 0, (short) AF_INET);
        address.set(NETWORK_SHORT, 2, (short) port);
        try {
            require((int) BIND.invokeExact(socket.descriptor, address, SOCKADDR_IN_BYTES) == 0, "found port taken");
        } catch (final IllegalStateException e) {
            throw e;
        } catch (final Throwable e) {
            throw unexpected(e);
        }
        final MemorySegment membership = arena.allocate(2 * Integer.BYTES, Integer.BYTES);
        membership.set(NETWORK_INT, 0, number(group));
        membership.set(NETWORK_INT, Integer.BYTES, number(localAddress));
        socket.option(IPPROTO_IP, IP_ADD_MEMBERSHIP, membership);
        return socket;
    }

    /// Receives every UDP packet that comes to this host, with its IP header and before anything of it is
    /// lost, but for those to two ports.
    static TapSocket listener(final Arena arena, final int portExcepted, final int otherExcepted) {
        final TapSocket socket = new TapSocket(arena, AF_PACKET, ETH_P_IP);
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
        final MemorySegment code = arena.allocate(program.length * (long) Long.BYTES, Long.BYTES);
        for (int i = 0; i < program.length; i++) {
            final long at = i * (long) Long.BYTES;
            code.set(JAVA_SHORT, at, (short) program[i][0]);
            code.set(JAVA_BYTE, at + 2, (byte) program[i][1]);
            code.set(JAVA_BYTE, at + 3, (byte) program[i][2]);
            code.set(JAVA_INT, at + 4, (int) program[i][3]);
        }
        final MemorySegment filter = arena.allocate(2 * Long.BYTES, Long.BYTES);
        filter.set(JAVA_SHORT, 0, (short) program.length);
        filter.set(ADDRESS, Long.BYTES, code);
        socket.option(SOL_SOCKET, SO_ATTACH_FILTER, filter);
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
        try {
            require(
                    (int) SETSOCKOPT.invokeExact(descriptor, level, name, value, (int) value.byteSize()) == 0,
                    "does not take option " + level + "." + name);
        } catch (final IllegalStateException e) {
            throw e;
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    /// Waits for a moment.
    ///
    /// @return bytes received, or less than 1 when nothing came
    long receive(final MemorySegment memory) {
        try {
            return (long) RECEIVE.invokeExact(descriptor, memory, memory.byteSize(), 0);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    /// When the kernel took the last one that was received, in nanoseconds since the epoch; 0 when it does
    /// not know.
    long timeNs() {
        try {
            return (int) IOCTL.invokeExact(descriptor, SIOCGSTAMPNS, time) == 0
                    ? time.get(JAVA_LONG, 0) * NS_PER_SECOND + time.get(JAVA_LONG, Long.BYTES)
                    : 0;
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public void close() {
        try {
            final int _ = (int) CLOSE.invokeExact(descriptor);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
        arena.close();
    }
}
