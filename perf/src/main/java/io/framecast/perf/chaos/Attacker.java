package io.framecast.perf.chaos;

import io.framecast.engine.libc.Linux;
import io.framecast.perf.harness.LinuxSocket;
import io.framecast.perf.harness.ParentLink;
import io.framecast.perf.harness.Records;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// Sends garbage, on the orders' thread, to every socket of the stream: by multicast and unicast, and as if
/// it came from the peer that the socket listens to.
final class Attacker {
    private static final int BURST = 40;
    // However little time its machine gives it.
    private static final int BURSTS_MIN = 10;
    private static final long BURST_NS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final int PACKET_MAX = 1 << 16;
    private static final int IP_BYTES = 20;
    private static final int UDP_BYTES = 8;
    private static final int UDP = 17;
    private static final int REAL_MAX = 64;

    private Attacker() {}

    /// The order to send garbage.
    record Order(long seed, long durationMs, List<UdpPath> paths) {}

    /// @param text of an [Order]
    static void attack(final String text, final ParentLink parent) {
        final Order order = Records.read(Order.class, text);
        final List<UdpPath> paths = order.paths;
        final Garbage garbage = new Garbage(order.seed);
        final List<byte[]> real = new ArrayList<>();
        long sent = 0;
        try (Arena arena = Arena.ofConfined();
                LinuxSocket sender = LinuxSocket.packetSender(arena);
                LinuxSocket listener = LinuxSocket.packetListener(arena)) {
            final MemorySegment packet = arena.allocate(PACKET_MAX, Long.BYTES);
            final long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(order.durationMs);
            for (int bursts = 0; bursts < BURSTS_MIN || System.nanoTime() < endNs; bursts++) {
                hear(listener, packet, real);
                for (int i = 0; i < BURST; i++) {
                    final UdpPath path = paths.get((int) (sent % paths.size()));
                    final byte[] datagram =
                            garbage.next(real.isEmpty() ? new byte[0] : real.get((int) (sent % real.size())));
                    sent += sender.sendTo(write(packet, path, datagram), path.to()) ? 1 : 0;
                }
                LockSupport.parkNanos(BURST_NS);
            }
        }
        parent.send(StreamLog.ATTACKED, sent + " " + real.size());
    }

    // The newest datagrams of the stream that came by.
    private static void hear(final LinuxSocket listener, final MemorySegment packet, final List<byte[]> real) {
        for (int i = 0; i < BURST; i++) {
            final long bytes = listener.receive(packet, Linux.MSG_DONTWAIT);
            if (bytes <= 0) {
                return;
            }
            final int header = (packet.get(ValueLayout.JAVA_BYTE, 0) & 0x0f) * Integer.BYTES;
            if (bytes > header + UDP_BYTES && packet.get(ValueLayout.JAVA_BYTE, 9) == UDP) {
                final long payload = Math.min(Garbage.BYTES_MAX, bytes - header - UDP_BYTES);
                if (real.size() == REAL_MAX) {
                    real.removeFirst();
                }
                real.add(packet.asSlice(header + UDP_BYTES, payload).toArray(ValueLayout.JAVA_BYTE));
            }
        }
    }

    // An IP header whose checksum and length the system fills in, a UDP header without checksum, the datagram.
    private static MemorySegment write(final MemorySegment memory, final UdpPath path, final byte[] datagram) {
        final ByteBuffer header = ByteBuffer.allocate(IP_BYTES + UDP_BYTES);
        final int bytes = IP_BYTES + UDP_BYTES + datagram.length;
        header.put((byte) 0x45).put((byte) 0).putShort((short) bytes).putInt(0);
        header.put((byte) 1).put((byte) UDP).putShort((short) 0);
        header.put(InetAddress.ofLiteral(path.from()).getAddress());
        header.put(InetAddress.ofLiteral(path.to()).getAddress());
        header.putShort((short) path.fromPort()).putShort((short) path.toPort());
        header.putShort((short) (UDP_BYTES + datagram.length)).putShort((short) 0);
        MemorySegment.copy(header.array(), 0, memory, ValueLayout.JAVA_BYTE, 0, header.capacity());
        MemorySegment.copy(datagram, 0, memory, ValueLayout.JAVA_BYTE, header.capacity(), datagram.length);
        return memory.asSlice(0, bytes);
    }
}
