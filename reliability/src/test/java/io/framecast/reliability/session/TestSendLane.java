package io.framecast.reliability.session;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.lane.SendLanePort;
import io.framecast.reliability.window.WindowMemory;
import io.framecast.reliability.wire.DataLayout;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/// A sending lane: it reads a slot when it sends it, which is at once unless a test holds it back.
final class TestSendLane implements SendLanePort {
    /// Every receiver.
    static final int GROUP = -2;
    /// An address of another transport.
    static final byte STRANGE = 99;

    /// Carries a datagram to a peer, or to the [#GROUP].
    interface Wire {
        void carry(int peer, byte[] datagram);
    }

    private record Slot(int peer, int slot) {}

    /// Sequences sent, in order.
    final List<Long> sent = new ArrayList<>();
    /// The peer of each of them.
    final List<Integer> sentTo = new ArrayList<>();
    /// Peers that are connected.
    final TreeSet<Integer> peers = new TreeSet<>();
    /// Peers that were disconnected.
    final List<Integer> disconnected = new ArrayList<>();
    /// Datagrams that one call accepts.
    int acceptsAtOnce = Integer.MAX_VALUE;
    /// Whether accepted slots wait to be read, until [#pass].
    boolean holds;
    /// Bytes that wait in the operating system, as a test says.
    long queuedBytes;

    private final WindowMemory memory;
    private final Wire wire;
    private final ArrayDeque<Slot> waiting = new ArrayDeque<>();
    private long submitted;

    TestSendLane(final WindowMemory memory, final Wire wire) {
        this.memory = memory;
        this.wire = wire;
    }

    /// Reads and sends the first waiting slots.
    void pass(final int count) {
        for (int i = 0; i < count && !waiting.isEmpty(); i++) {
            final Slot next = waiting.remove();
            final MemorySegment headers = memory.headers();
            final long header = memory.headerOffset(next.slot);
            if (next.slot < memory.slots()) {
                sent.add(DataLayout.SEQUENCE.get(headers, header));
                sentTo.add(next.peer);
            }
            final int length = memory.lengths()[next.slot];
            final byte[] datagram = new byte[DataLayout.LENGTH + length];
            MemorySegment.copy(headers, JAVA_BYTE, header, datagram, 0, DataLayout.LENGTH);
            MemorySegment.copy(
                    memory.payload(), JAVA_BYTE, memory.payloadOffset(next.slot), datagram, DataLayout.LENGTH, length);
            wire.carry(next.peer, datagram);
        }
    }

    private int take(final int peer, final int firstSlot, final int count) {
        assertTrue(count > 0, "a call for nothing");
        final int end = firstSlot == memory.slots() ? memory.slots() + 1 : memory.slots();
        assertTrue(firstSlot + count <= end, "slots beyond the window");
        final int accepted = Math.min(count, acceptsAtOnce);
        for (int i = 0; i < accepted; i++) {
            waiting.add(new Slot(peer, firstSlot + i));
        }
        submitted += accepted;
        if (!holds) {
            pass(Integer.MAX_VALUE);
        }
        return accepted;
    }

    @Override
    public int connect(final byte[] address) {
        if (address[0] == STRANGE) {
            return NO_PEER;
        }
        peers.add((int) address[0]);
        return address[0];
    }

    @Override
    public void disconnect(final int peer) {
        assertTrue(peers.remove(peer), "a stranger is disconnected");
        disconnected.add(peer);
    }

    @Override
    public int multicast(final int firstSlot, final int count) {
        return take(GROUP, firstSlot, count);
    }

    @Override
    public int unicast(final int peer, final int firstSlot, final int count) {
        assertTrue(peers.contains(peer), "unicast to a stranger");
        return take(peer, firstSlot, count);
    }

    @Override
    public long submitted() {
        return submitted;
    }

    @Override
    public long queuedBytes() {
        return queuedBytes;
    }

    @Override
    public long completed() {
        return submitted - waiting.size();
    }
}
