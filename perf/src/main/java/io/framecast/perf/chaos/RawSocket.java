package io.framecast.perf.chaos;

import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// A socket of Linux that sends and receives whole IP packets. Needs root. One thread.
final class RawSocket implements AutoCloseable {
    private static final ValueLayout.OfInt NETWORK_INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment address = arena.allocate(Linux.SOCKADDR_IN_BYTES, Long.BYTES);
    private final int descriptor;

    private RawSocket(final int family, final int type, final int protocol) {
        descriptor = Libc.socket(Libc.newCapture(arena), family, type, protocol);
        if (descriptor < 0) {
            arena.close();
            throw new IllegalStateException("a raw socket cannot be opened: run as root");
        }
    }

    /// Sends packets whose IP header the caller wrote.
    static RawSocket sender() {
        return new RawSocket(Linux.AF_INET, Linux.SOCK_RAW, Linux.IPPROTO_RAW);
    }

    /// Sees every IP packet that comes to this host, for any address.
    static RawSocket listener() {
        return new RawSocket(Linux.AF_PACKET, Linux.SOCK_DGRAM, Linux.ETH_P_IP);
    }

    /// @param packet native memory
    /// @return whether the system took it
    boolean send(final MemorySegment packet, final int destination) {
        address.set(ValueLayout.JAVA_SHORT, 0, (short) Linux.AF_INET);
        address.set(NETWORK_INT, Linux.SIN_ADDR, destination);
        return Libc.sendto(descriptor, packet, address, Linux.SOCKADDR_IN_BYTES) >= 0;
    }

    /// @return the packet's bytes in `memory`, or less than 1 when none waits
    long receive(final MemorySegment memory) {
        return Libc.recv(descriptor, memory, Linux.MSG_DONTWAIT);
    }

    @Override
    public void close() {
        Libc.close(descriptor);
        arena.close();
    }
}
