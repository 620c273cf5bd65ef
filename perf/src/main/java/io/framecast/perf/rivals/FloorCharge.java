package io.framecast.perf.rivals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// The charge of one datagram on a receive buffer. The kernel charges the memory that holds a packet (its
/// truesize), not its bytes; one that travels within a batch costs less than one alone, so this is the dearer
/// case.
final class FloorCharge {
    private static final String LOOPBACK = "127.0.0.1";
    // Delivery on loopback happens within the send, but may be left to a kernel thread under load.
    private static final int TRIES_MAX = 100_000;

    private FloorCharge() {}

    /// Sends one datagram to itself and asks what it was charged with.
    static long ofDatagram(final int bytes) {
        try (Arena arena = Arena.ofConfined();
                FloorSocket socket = FloorSocket.open(arena)) {
            socket.bind(LOOPBACK, 0);
            socket.connectToItself();
            final MemorySegment payload = arena.allocate(bytes);
            final FloorMessages messages = new FloorMessages(arena, 1);
            messages.aim(0, payload.address(), bytes);
            socket.send(messages, 0, 1);
            for (int i = 0; i < TRIES_MAX; i++) {
                final long charged = socket.chargedBytes();
                if (charged > 0) {
                    return charged;
                }
                Thread.onSpinWait();
            }
        }
        throw new IllegalStateException("floor: the kernel charges nothing for a datagram on loopback");
    }
}
