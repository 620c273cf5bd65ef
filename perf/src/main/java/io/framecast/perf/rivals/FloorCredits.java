package io.framecast.perf.rivals;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.framecast.engine.libc.Linux;
import io.framecast.perf.harness.LinuxSocket;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;

/// The floor's publisher, where credit arrives: which datagram each receiver expects next, and how many it
/// can hold.
final class FloorCredits implements AutoCloseable {
    /// A credit is four numbers: receiver, next datagram, datagrams that its buffer holds, whether it has
    /// the end.
    static final int BYTES = 4 * Long.BYTES;

    static final int NEXT = Long.BYTES;
    static final int ROOM = 2 * Long.BYTES;
    static final int DONE = 3 * Long.BYTES;
    static final int PORT_OFFSET = 1;

    private static final int MESSAGES = 32;
    private static final int BUFFER_BYTES = 1 << 20;
    private static final long WAIT_MS = 50;
    // Without loss a credit comes or is repeated within one wait, unless the receiver does not get a processor.
    private static final int WAITS_MAX = 200;

    private final LinuxSocket socket;
    private final FloorMessages messages;
    private final MemorySegment memory;
    private final long[] next;
    // Receivers that have the end, and that have been heard.
    private final BitSet done = new BitSet();
    private final BitSet known = new BitSet();
    private long room = Long.MAX_VALUE;
    private long writtenOff;

    FloorCredits(final Arena arena, final StreamSpec spec) {
        socket = LinuxSocket.udp(arena);
        socket.option(Linux.SOL_SOCKET, Linux.SO_REUSEADDR, 1);
        socket.bind(spec.link().sourceAddress(), spec.link().port() + PORT_OFFSET);
        socket.sizeReceiveBuffer(BUFFER_BYTES);
        socket.receiveTimeout(WAIT_MS);
        messages = new FloorMessages(arena, MESSAGES);
        memory = arena.allocate((long) MESSAGES * BYTES, Long.BYTES);
        for (int i = 0; i < MESSAGES; i++) {
            messages.aim(i, memory.address() + (long) i * BYTES, BYTES);
        }
        next = new long[spec.load().receivers()];
    }

    /// Waits until every receiver has been heard.
    void awaitAll() {
        while (known.cardinality() < next.length) {
            receive(Linux.MSG_WAITFORONE);
        }
    }

    /// Waits until `datagrams` more fit behind those sent.
    void awaitRoom(final long sent, final long datagrams) {
        receive(Linux.MSG_DONTWAIT);
        int waits = 0;
        while (sent + datagrams - received() > room) {
            final long before = received();
            receive(Linux.MSG_WAITFORONE);
            waits = received() > before ? 0 : waits + 1;
            if (waits == WAITS_MAX) {
                // The missing datagrams are lost: no receiver asks for them again.
                writtenOff = sent;
            }
        }
    }

    /// Waits until everything sent has been received or written off.
    void awaitReceived(final long sent) {
        awaitRoom(sent, room);
    }

    private long received() {
        return Math.max(writtenOff, Arrays.stream(next).min().orElse(0));
    }

    boolean areDone() {
        return done.cardinality() == next.length;
    }

    long roomDatagrams() {
        return room;
    }

    void receive(final int flags) {
        final int count = messages.receive(socket, flags);
        for (int i = 0; i < count; i++) {
            final long offset = (long) i * BYTES;
            final long receiver = memory.get(JAVA_LONG, offset);
            if (messages.length(i) == BYTES && receiver >= 0 && receiver < next.length) {
                final int index = (int) receiver;
                next[index] = Math.max(next[index], memory.get(JAVA_LONG, offset + NEXT));
                room = Math.min(room, memory.get(JAVA_LONG, offset + ROOM));
                if (memory.get(JAVA_LONG, offset + DONE) != 0) {
                    done.set(index);
                }
                known.set(index);
            }
        }
    }

    @Override
    public void close() {
        socket.close();
    }
}
