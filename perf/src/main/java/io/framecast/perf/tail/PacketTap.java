package io.framecast.perf.tail;

import io.framecast.perf.harness.LinuxSocket;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;

/// Watches what comes to a subscriber's host beside what the subscriber gets: datagrams that the network
/// diverts instead of dropping, which so are known to be lost, and repairs on their way in. Has a thread for
/// each, which sleeps unless something is lost.
final class PacketTap implements AutoCloseable {
    private static final int PACKET_BYTES = 1 << 16;
    /// Bytes of an IPv4 header without options, and of a UDP header behind it.
    private static final int IP_AND_UDP_BYTES = 28;

    private static final int BUFFER_BYTES = 8 << 20;
    private static final long WAIT_MS = 50;

    private final List<TailLog.Event> events = Collections.synchronizedList(new ArrayList<>());
    private final List<Thread> threads = new ArrayList<>();
    private final TailSpec spec;
    private volatile boolean closed;

    PacketTap(final TailSpec spec) {
        this.spec = spec;
        watch(TailLog.Kind.LOST, 0, arena -> diverted(arena, TailSpec.DIVERTED_PORT));
        watch(TailLog.Kind.LOST_REPAIR, 0, arena -> diverted(arena, TailSpec.LOST_ELSE_PORT));
        watch(TailLog.Kind.REPAIR, IP_AND_UDP_BYTES, this::unicast);
    }

    // UDP payloads for any address of this host and for the group, at a port.
    private LinuxSocket diverted(final Arena arena, final int port) {
        final LinuxSocket socket = LinuxSocket.udp(arena);
        socket.bind("0.0.0.0", port);
        socket.join(TailSpec.GROUP, spec.localAddress());
        return socket;
    }

    // Every UDP packet that comes to this host, with its IP header and before anything of it is lost, but for
    // those to the group's ports.
    private LinuxSocket unicast(final Arena arena) {
        final LinuxSocket socket = LinuxSocket.packetListener(arena);
        socket.filter(
                new long[] {0x30, 0, 0, 9}, // load the byte that says what IP carries
                new long[] {0x15, 0, 4, 17}, // UDP, or nothing
                new long[] {0x28, 0, 0, 22}, // load the port that it is for
                new long[] {0x15, 2, 0, spec.port()},
                new long[] {0x15, 1, 0, spec.controlPort()},
                new long[] {0x06, 0, 0, 0xffff}, // take it
                new long[] {0x06, 0, 0, 0}); // or do not
        return socket;
    }

    private void watch(final TailLog.Kind kind, final int headersBytes, final Function<Arena, LinuxSocket> opening) {
        // Made here: the opener of the tap must know whether it could be opened.
        final Arena arena = Arena.ofShared();
        final LinuxSocket socket = opening.apply(arena);
        socket.receiveTimeout(WAIT_MS);
        socket.sizeReceiveBuffer(BUFFER_BYTES);
        // The first question makes the kernel stamp packets from now on.
        socket.timeNs();
        threads.add(Thread.ofPlatform().daemon().name("tap-" + kind).start(() -> {
            try (arena;
                    socket) {
                watch(kind, headersBytes, socket, arena.allocate(PACKET_BYTES, Long.BYTES));
            }
        }));
    }

    private void watch(
            final TailLog.Kind kind, final int headersBytes, final LinuxSocket socket, final MemorySegment packet) {
        final TapPackets packets = new TapPackets(spec.load());
        while (!closed) {
            final long bytes = socket.receive(packet, 0);
            if (bytes > headersBytes) {
                packets.read(packet.asSlice(headersBytes, bytes - headersBytes), kind, socket.timeNs(), events);
            }
        }
    }

    /// The events, once it is closed.
    List<TailLog.Event> events() {
        return List.copyOf(events);
    }

    @Override
    public void close() {
        closed = true;
        for (final Thread thread : threads) {
            try {
                thread.join();
            } catch (final InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
