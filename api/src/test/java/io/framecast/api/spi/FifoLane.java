package io.framecast.api.spi;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.framecast.api.error.TransportException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/// A lane of [FifoTransport]. Not built for speed: it copies and allocates.
final class FifoLane implements Lane {
    /// The bytes where verbs writes the global routing header: no test may read meaning into it.
    private static final byte RESERVE_FILL = 'G';

    private static final int MAGIC = 0x4649464f;
    private static final int PEERS_MAX = 1024;

    private record Received(int slot, int bytes) {}

    private final FifoNetwork network;
    private final LaneConfig config;
    private final int postedMax;
    private final int number;
    private final long[] counters = new long[LaneCounter.values().length];
    private final ArrayDeque<Integer> posted = new ArrayDeque<>();
    private final Map<Integer, DeviceRegion> redirected = new HashMap<>();
    private final Queue<Received> arrived = new ArrayDeque<>();
    private final BitSet peersUsed = new BitSet(PEERS_MAX);
    private final int[] peerNumbers = new int[PEERS_MAX];
    private byte @Nullable [] heldBack;
    private long submitted;
    private boolean closed;

    FifoLane(final FifoNetwork network, final LaneConfig config, final int postedMax) {
        this.network = network;
        this.config = config;
        this.postedMax = postedMax;
        final ReceiveRing ring = config.receive();
        if (ring != null && ring.headerStride() < FifoTransport.HEADER_RESERVE_BYTES + ring.headerBytes()) {
            throw new IllegalArgumentException("fifo: expected a header stride of at least "
                    + (FifoTransport.HEADER_RESERVE_BYTES + ring.headerBytes()) + ", got " + ring.headerStride());
        }
        synchronized (network) {
            number = network.nextLaneNumber();
            network.attach(this);
        }
    }

    int number() {
        return number;
    }

    /// Whether multicast from the other lane reaches this one: receivers hear their own kind, data lanes one
    /// source.
    boolean hearsGroup(final FifoLane from) {
        if (config.role() != LaneConfig.Role.RECEIVER || config.kind() != from.config.kind()) {
            return false;
        }
        return config.kind() != LaneKind.DATA || from.address().equals(config.peer());
    }

    @Override
    public LaneAddress address() {
        return new LaneAddress(
                ByteBuffer.allocate(8).putInt(MAGIC).putInt(number).array());
    }

    @Override
    public int post(final int firstSlot, final int count) {
        synchronized (network) {
            final ReceiveRing ring = receiveRing();
            if (firstSlot < 0 || firstSlot >= ring.slots() || count < 0 || count > ring.slots()) {
                throw new IllegalArgumentException(
                        "post: expected slots of " + ring.slots() + ", got " + firstSlot + " + " + count);
            }
            final int accepted = Math.min(count, postedMax - posted.size());
            for (int i = 0; i < accepted; i++) {
                posted.add((firstSlot + i) % ring.slots());
            }
            return accepted;
        }
    }

    @Override
    public boolean canRedirect() {
        return true;
    }

    @Override
    public boolean redirect(final int slot, final @Nullable DeviceRegion memory, final long offset, final int bytes) {
        synchronized (network) {
            if (memory == null) {
                redirected.remove(slot);
            } else {
                redirected.put(slot, memory.slice(offset, bytes));
            }
            return true;
        }
    }

    @Override
    public int poll(final Completions completions) {
        synchronized (network) {
            receiveRing();
            if (arrived.isEmpty()) {
                releaseHeldBack();
            }
            final int before = completions.count();
            while (!completions.isFull() && !arrived.isEmpty()) {
                final Received received = arrived.remove();
                completions.add(received.slot(), received.bytes());
            }
            return completions.count() - before;
        }
    }

    @Override
    public int receiveCapacity() {
        return UNLIMITED;
    }

    @Override
    public int multicast(final int firstSlot, final int count) {
        synchronized (network) {
            for (int i = 0; i < count; i++) {
                network.multicast(this, gather(firstSlot + i));
            }
            return count;
        }
    }

    @Override
    public int unicast(final int peer, final int firstSlot, final int count) {
        synchronized (network) {
            requirePeer(peer);
            for (int i = 0; i < count; i++) {
                network.unicast(peerNumbers[peer], gather(firstSlot + i));
            }
            return count;
        }
    }

    @Override
    public long submitted() {
        return submitted;
    }

    @Override
    public long completed() {
        return submitted;
    }

    @Override
    public int connect(final LaneAddress peer) {
        final ByteBuffer bytes = ByteBuffer.wrap(peer.toBytes());
        if (bytes.remaining() != 8 || bytes.getInt() != MAGIC) {
            throw new TransportException("fifo: expected an address of this transport, got " + peer);
        }
        synchronized (network) {
            requireOpen();
            final int handle = peersUsed.nextClearBit(0);
            if (handle == PEERS_MAX) {
                throw new TransportException("fifo: expected at most " + PEERS_MAX + " peers; disconnect some");
            }
            peersUsed.set(handle);
            peerNumbers[handle] = bytes.getInt();
            return handle;
        }
    }

    @Override
    public void disconnect(final int peer) {
        synchronized (network) {
            requirePeer(peer);
            peersUsed.clear(peer);
        }
    }

    @Override
    public long counter(final LaneCounter counter) {
        synchronized (network) {
            return counters[counter.ordinal()];
        }
    }

    @Override
    public void close() {
        synchronized (network) {
            closed = true;
            network.detach(this);
        }
    }

    /// Keeps a datagram until the next one has arrived.
    ///
    /// @return false when one is held back already
    boolean holdBack(final byte[] datagram) {
        if (heldBack != null) {
            return false;
        }
        heldBack = datagram;
        return true;
    }

    void releaseHeldBack() {
        if (heldBack != null) {
            final byte[] datagram = heldBack;
            heldBack = null;
            arrive(datagram);
        }
    }

    /// Consumes the receive posted first, whatever the datagram is. One that does not fit is dropped before
    /// it consumes anything: a slot that went without a completion could never be posted again by its owner.
    void arrive(final byte[] datagram) {
        final ReceiveRing ring = config.receive();
        if (ring == null || posted.isEmpty()) {
            count(LaneCounter.RECEIVE_OVERRUNS, 1);
            return;
        }
        if (datagram.length < ring.headerBytes()) {
            count(LaneCounter.MALFORMED, 1);
            return;
        }
        if (datagram.length > ring.headerBytes() + ring.payloadBytes()) {
            count(LaneCounter.TRUNCATED, 1);
            return;
        }
        scatter(datagram, ring, posted.remove());
    }

    private void scatter(final byte[] datagram, final ReceiveRing ring, final int slot) {
        final MemorySegment source = MemorySegment.ofArray(datagram);
        final long header = (long) slot * ring.headerStride();
        ring.headers().asSlice(header, FifoTransport.HEADER_RESERVE_BYTES).fill(RESERVE_FILL);
        MemorySegment.copy(source, 0, ring.headers(), header + FifoTransport.HEADER_RESERVE_BYTES, ring.headerBytes());
        final DeviceRegion target = redirected.get(slot);
        final int payload = datagram.length - ring.headerBytes();
        final int there = target == null ? 0 : (int) Math.min(payload, target.bytes());
        final int payloadAt = ring.headerBytes();
        if (target != null) {
            write(target, 0, source, payloadAt, there);
        }
        final long offset = (long) slot * ring.payloadBytes();
        write(ring.payload(), offset + there, source, payloadAt + there, payload - there);
        arrived.add(new Received(slot, datagram.length));
        count(LaneCounter.RECEIVED_DATAGRAMS, 1);
        count(LaneCounter.RECEIVED_BYTES, datagram.length);
    }

    private void write(
            final DeviceRegion to, final long offset, final MemorySegment source, final int from, final int bytes) {
        final FifoNetwork.RemoteMemory remote = network.remote();
        if (to.hostAddressable()) {
            MemorySegment.copy(source, from, to.host(), offset, bytes);
        } else if (remote == null) {
            throw new IllegalStateException("fifo: a ring in device memory, which no NIC of this network reaches");
        } else if (bytes > 0) {
            remote.write(to.address() + offset, source, from, bytes);
        }
    }

    private byte[] gather(final int position) {
        requireOpen();
        final SendRing ring = config.send();
        if (ring == null) {
            throw new IllegalStateException("lane " + config.kind() + ": opened without a send ring");
        }
        final int slot = position % ring.slots();
        final byte[] datagram = new byte[ring.headerBytes() + ring.payloadLengths()[slot]];
        MemorySegment.copy(
                ring.headers(), JAVA_BYTE, (long) slot * ring.headerBytes(), datagram, 0, ring.headerBytes());
        MemorySegment.copy(
                ring.payload(),
                JAVA_BYTE,
                (long) slot * ring.payloadBytes(),
                datagram,
                ring.headerBytes(),
                ring.payloadLengths()[slot]);
        submitted++;
        count(LaneCounter.SENT_DATAGRAMS, 1);
        count(LaneCounter.SENT_BYTES, datagram.length);
        return datagram;
    }

    private ReceiveRing receiveRing() {
        requireOpen();
        final ReceiveRing ring = config.receive();
        if (ring == null) {
            throw new IllegalStateException("lane " + config.kind() + ": opened without a receive ring");
        }
        return ring;
    }

    private void requirePeer(final int peer) {
        requireOpen();
        if (peer < 0 || !peersUsed.get(peer)) {
            throw new IllegalArgumentException("expected a connected peer, got " + peer);
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("lane " + config.kind() + " is closed");
        }
    }

    private void count(final LaneCounter counter, final long by) {
        counters[counter.ordinal()] += by;
    }
}
