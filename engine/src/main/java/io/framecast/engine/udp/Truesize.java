package io.framecast.engine.udp;

import io.framecast.api.error.NativeException;
import io.framecast.engine.libc.Linux;
import java.lang.foreign.Arena;
import java.net.InetAddress;

/// Measures the charge of a datagram against a receive buffer. The kernel charges the memory that holds a
/// packet (its truesize), not its bytes: 2304 for a datagram of 1448 bytes, 60 832 for 60 000, both on
/// loopback.
final class Truesize {
    // Delivery on loopback happens within the send, but may be left to a kernel thread under load.
    private static final int TRIES_MAX = 10_000;

    // A packet from a network card lies in whole pages that the driver gave, behind a struct sk_buff and its
    // tail.
    private static final int PAGE_BYTES = 4096;
    private static final int OVERHEAD_BYTES = 768;

    private Truesize() {}

    /// Bytes that one datagram of this length is charged with on an interface.
    ///
    /// On loopback a probe measures the charge. Drivers of network cards allocate otherwise, which a loopback
    /// probe cannot see: there the charge is taken to be whole pages, or the measured one if that is more.
    static long of(final int datagramBytes, final boolean loopback) {
        final long pages = (datagramBytes + PAGE_BYTES - 1L) / PAGE_BYTES;
        final long estimated = pages * PAGE_BYTES + OVERHEAD_BYTES;
        final long measured = measure(datagramBytes);
        if (measured == 0) {
            return estimated;
        }
        return loopback ? measured : Math.max(measured, estimated);
    }

    /// Sends one datagram to itself and reads its charge; 0 when the kernel does not show it.
    static long measure(final int datagramBytes) {
        final InetAddress loopback = InetAddress.ofLiteral("127.0.0.1");
        try (Arena arena = Arena.ofConfined();
                LinuxSocket socket = LinuxSocket.open(arena, IpFamily.IPV4)) {
            socket.bind(new Endpoint(loopback, 0), 0);
            socket.connect(socket.localEndpoint(), 0);
            final MessageBatch messages = MessageBatch.of(arena, arena.allocate(datagramBytes));
            messages.pointTo(0, 0, 1);
            if (socket.send(messages.address(), 1) != 1) {
                return 0;
            }
            for (int i = 0; i < TRIES_MAX; i++) {
                final long charged = socket.memoryInfo(Linux.MEMINFO_RMEM_ALLOC);
                if (charged > 0) {
                    return charged;
                }
                Thread.onSpinWait();
            }
            return 0;
        } catch (final NativeException e) {
            return 0;
        }
    }
}
