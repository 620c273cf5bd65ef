package io.framecast.perf.chaos;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.ByteOrder;

/// A socket of Linux that sends and receives whole IP packets. Needs root. One thread.
final class RawSocket implements AutoCloseable {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final MethodHandle SOCKET = call(
            "socket",
            FunctionDescriptor.of(
                    ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
    private static final MethodHandle SEND_TO = call(
            "sendto",
            FunctionDescriptor.of(
                    ValueLayout.JAVA_LONG,
                    ValueLayout.JAVA_INT,
                    ValueLayout.ADDRESS,
                    ValueLayout.JAVA_LONG,
                    ValueLayout.JAVA_INT,
                    ValueLayout.ADDRESS,
                    ValueLayout.JAVA_INT));
    private static final MethodHandle RECEIVE = call(
            "recv",
            FunctionDescriptor.of(
                    ValueLayout.JAVA_LONG,
                    ValueLayout.JAVA_INT,
                    ValueLayout.ADDRESS,
                    ValueLayout.JAVA_LONG,
                    ValueLayout.JAVA_INT));
    private static final MethodHandle CLOSE =
            call("close", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));

    private static final int AF_INET = 2;
    private static final int SOCK_RAW = 3;
    private static final int IPPROTO_RAW = 255;
    private static final int AF_PACKET = 17;
    private static final int SOCK_DGRAM = 2;
    // ETH_P_IP in network order.
    private static final int ETH_P_IP = 0x0008;
    private static final int MSG_DONTWAIT = 0x40;
    private static final int ADDRESS_BYTES = 16;
    private static final int ADDRESS_OFFSET = 4;
    private static final ValueLayout.OfInt NETWORK_INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment address = arena.allocate(ADDRESS_BYTES, Long.BYTES);
    private final int descriptor;

    private RawSocket(final int domain, final int type, final int protocol) {
        try {
            descriptor = (int) SOCKET.invokeExact(domain, type, protocol);
        } catch (final Throwable e) {
            throw new IllegalStateException(e);
        }
        if (descriptor < 0) {
            arena.close();
            throw new IllegalStateException("a raw socket cannot be opened: run as root");
        }
    }

    @SuppressWarnings("restricted")
    private static MethodHandle call(final String name, final FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(LINKER.defaultLookup().find(name).orElseThrow(), descriptor);
    }

    /// Sends packets whose IP header the caller wrote.
    static RawSocket sender() {
        return new RawSocket(AF_INET, SOCK_RAW, IPPROTO_RAW);
    }

    /// Sees every IP packet that comes to this host, for any address.
    static RawSocket listener() {
        return new RawSocket(AF_PACKET, SOCK_DGRAM, ETH_P_IP);
    }

    /// @param packet native memory
    /// @return whether the system took it
    boolean send(final MemorySegment packet, final int destination) {
        address.set(ValueLayout.JAVA_SHORT, 0, (short) AF_INET);
        address.set(NETWORK_INT, ADDRESS_OFFSET, destination);
        try {
            return (long) SEND_TO.invokeExact(descriptor, packet, packet.byteSize(), 0, address, ADDRESS_BYTES) >= 0;
        } catch (final Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    /// @return the packet's bytes in `memory`, or less than 1 when none waits
    long receive(final MemorySegment memory) {
        try {
            return (long) RECEIVE.invokeExact(descriptor, memory, memory.byteSize(), MSG_DONTWAIT);
        } catch (final Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        try {
            final int _ = (int) CLOSE.invokeExact(descriptor);
        } catch (final Throwable e) {
            throw new IllegalStateException(e);
        }
        arena.close();
    }
}
