package io.framecast.engine.node;

import io.framecast.api.provider.TransportConfig;
import io.framecast.api.provider.TransportProvider;
import io.framecast.api.spi.Completions;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneCounter;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.SendRing;
import io.framecast.api.spi.Transport;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/// Real transports whose lanes also send the datagrams of [Garbage]: from the addresses that peers trust, to the
/// group and to every peer. One thread.
final class HostileTransport implements TransportProvider {
    /// Beyond the longest genuine datagram.
    static final int SURPLUS_BYTES = 32;

    private final TransportProvider real;
    private final Random random;
    private final List<HostileLane> lanes = new ArrayList<>();
    private long sent;

    HostileTransport(final TransportProvider real, final long seed) {
        this.real = real;
        random = new Random(seed);
    }

    /// Hostile datagrams sent so far.
    long sent() {
        return sent;
    }

    /// Tries to send `count` garbage datagrams on each lane.
    void flood(final int count) {
        for (final HostileLane lane : lanes) {
            for (int i = 0; i < count; i++) {
                sent += lane.sendGarbage();
            }
        }
    }

    List<LaneAddress> addresses() {
        return lanes.stream().map(HostileLane::address).toList();
    }

    @Override
    public String name() {
        return real.name();
    }

    @Override
    public Optional<String> unavailable() {
        return real.unavailable();
    }

    @Override
    public int rank() {
        return real.rank();
    }

    @Override
    public Transport open(final TransportConfig config) {
        return new ForwardingTransport(real.open(config)) {
            @Override
            public Lane open(final LaneConfig laneConfig) {
                final SendRing ring = laneConfig.send();
                return ring == null ? inner.open(laneConfig) : new HostileLane(inner, laneConfig, ring);
            }
        };
    }

    /// Sends from a ring of its own, with one slot for genuine datagrams and one for garbage.
    private final class HostileLane implements Lane {
        private static final int GENUINE = 0;
        private static final int GARBAGE = 1;
        private static final int GROUP = -1;

        private final SendRing genuine;
        private final SendRing ring;
        private final Arena arena = Arena.ofShared();
        private final int[] lengths = new int[2];
        private final Lane inner;
        private final LaneKind kind;
        private final Garbage garbage;
        private final List<Integer> peers = new ArrayList<>();
        private boolean multicasts;
        private boolean closed;
        private long submitted;

        HostileLane(final Transport transport, final LaneConfig config, final SendRing genuine) {
            this.genuine = genuine;
            final int stride = genuine.payloadBytes() + SURPLUS_BYTES;
            final MemorySegment headers =
                    genuine.headerBytes() == 0 ? MemorySegment.NULL : arena.allocate(2L * genuine.headerBytes(), 64);
            ring = new SendRing(headers, genuine.headerBytes(), arena.allocate(2L * stride, 64), stride, lengths);
            inner = transport.open(new LaneConfig(config.kind(), config.role(), ring, config.receive(), config.peer()));
            kind = config.kind();
            garbage = new Garbage(random, kind);
            lanes.add(this);
        }

        private byte[] datagram(final int slot) {
            final int header = genuine.headerBytes();
            final int bytes = genuine.payloadLengths()[slot];
            final byte[] datagram = new byte[header + bytes];
            MemorySegment.copy(genuine.headers(), (long) slot * header, MemorySegment.ofArray(datagram), 0, header);
            MemorySegment.copy(
                    genuine.payload(),
                    (long) slot * genuine.payloadBytes(),
                    MemorySegment.ofArray(datagram),
                    header,
                    bytes);
            return datagram;
        }

        private int send(final int peer, final int slot, final byte[] datagram) {
            final int header = Math.min(ring.headerBytes(), datagram.length);
            final MemorySegment from = MemorySegment.ofArray(datagram);
            MemorySegment.copy(from, 0, ring.headers(), (long) slot * ring.headerBytes(), header);
            MemorySegment.copy(
                    from, header, ring.payload(), (long) slot * ring.payloadBytes(), datagram.length - header);
            lengths[slot] = datagram.length - header;
            return peer == GROUP ? inner.multicast(slot, 1) : inner.unicast(peer, slot, 1);
        }

        private int sendAll(final int peer, final int firstSlot, final int count) {
            for (int i = 0; i < count; i++) {
                final byte[] datagram = datagram((firstSlot + i) % genuine.slots());
                if (send(peer, GENUINE, datagram) == 0) {
                    return i;
                }
                learn(datagram);
                submitted++;
            }
            return count;
        }

        // A datagram of the data lane is genuine on the repair lane too, where no request may follow it.
        private void learn(final byte[] datagram) {
            for (final HostileLane lane : lanes) {
                if (lane == this || (kind == LaneKind.DATA && lane.kind == LaneKind.REPAIR)) {
                    lane.garbage.learn(datagram);
                }
            }
        }

        int sendGarbage() {
            final byte @Nullable [] datagram = closed ? null : garbage.next(ring.payloadBytes() + ring.headerBytes());
            // A ring's header is always sent whole.
            if (datagram == null || datagram.length < ring.headerBytes()) {
                return 0;
            }
            final int choice = random.nextInt(peers.size() + (multicasts ? 1 : 0) + 1) - 1;
            if (choice < 0 || choice >= peers.size()) {
                return multicasts ? send(GROUP, GARBAGE, datagram) : 0;
            }
            return send(peers.get(choice), GARBAGE, datagram);
        }

        @Override
        public LaneAddress address() {
            return inner.address();
        }

        @Override
        public int post(final int firstSlot, final int count) {
            return inner.post(firstSlot, count);
        }

        @Override
        public int poll(final Completions completions) {
            return inner.poll(completions);
        }

        @Override
        public int receiveCapacity() {
            return inner.receiveCapacity();
        }

        @Override
        public int multicast(final int firstSlot, final int count) {
            multicasts = true;
            return sendAll(GROUP, firstSlot, count);
        }

        @Override
        public int unicast(final int peer, final int firstSlot, final int count) {
            return sendAll(peer, firstSlot, count);
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
            final int handle = inner.connect(peer);
            peers.add(handle);
            return handle;
        }

        @Override
        public void disconnect(final int peer) {
            peers.remove((Integer) peer);
            inner.disconnect(peer);
        }

        @Override
        public long counter(final LaneCounter counter) {
            return inner.counter(counter);
        }

        @Override
        public void close() {
            closed = true;
            inner.close();
            if (arena.scope().isAlive()) {
                arena.close();
            }
        }

        @Override
        public String toString() {
            return "hostile" + Arrays.toString(lengths);
        }
    }
}
