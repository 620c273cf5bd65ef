package io.framecast.perf.tail;

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

    private final List<TailLog.Event> events = Collections.synchronizedList(new ArrayList<>());
    private final List<Thread> threads = new ArrayList<>();
    private final TailSpec spec;
    private volatile boolean closed;

    PacketTap(final TailSpec spec) {
        this.spec = spec;
        final TailSpec.Link link = spec.link();
        watch(
                TailLog.Kind.LOST,
                0,
                arena -> TapSocket.diverted(arena, link.divertedPort(), link.group(), spec.localAddress()));
        watch(
                TailLog.Kind.LOST_REPAIR,
                0,
                arena -> TapSocket.diverted(arena, link.lostElsePort(), link.group(), spec.localAddress()));
        watch(
                TailLog.Kind.REPAIR,
                TapSocket.IP_AND_UDP_BYTES,
                arena -> TapSocket.listener(arena, link.port(), link.controlPort()));
    }

    private void watch(final TailLog.Kind kind, final int headersBytes, final Function<Arena, TapSocket> opening) {
        // Made here: the opener of the tap must know whether it could be opened.
        final TapSocket socket = opening.apply(Arena.ofShared());
        threads.add(Thread.ofPlatform().daemon().name("tap-" + kind).start(() -> {
            try (socket;
                    Arena arena = Arena.ofConfined()) {
                watch(kind, headersBytes, socket, arena.allocate(PACKET_BYTES, Long.BYTES));
            }
        }));
    }

    private void watch(
            final TailLog.Kind kind, final int headersBytes, final TapSocket socket, final MemorySegment packet) {
        final TapPackets packets = new TapPackets(spec.load());
        while (!closed) {
            final long bytes = socket.receive(packet);
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
