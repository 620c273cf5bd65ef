package io.framecast.engine.node;

import io.framecast.api.provider.TransportConfig;
import io.framecast.api.provider.TransportProvider;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.SendRing;
import io.framecast.api.spi.Transport;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// A real transport that keeps copies of the datagrams that it sends: for each lane the first ones and the last ones.
/// One thread.
final class TappedTransport implements TransportProvider {
    private static final int FIRST_MAX = 64;
    private static final int KEPT_MAX = 512;
    private static final int LATEST_MAX = 32;

    private final TransportProvider real;
    private final Map<LaneKind, LaneAddress> addresses = new EnumMap<>(LaneKind.class);
    private final Map<LaneKind, List<byte[]>> sent = new EnumMap<>(LaneKind.class);
    private final Map<LaneKind, Deque<byte[]>> latest = new EnumMap<>(LaneKind.class);
    private long copies;

    TappedTransport(final TransportProvider real) {
        this.real = real;
        for (final LaneKind kind : LaneKind.values()) {
            sent.put(kind, new ArrayList<>());
            latest.put(kind, new ArrayDeque<>());
        }
    }

    /// Copies of datagrams that a lane sent, in no order.
    List<byte[]> sent(final LaneKind kind) {
        return sent.getOrDefault(kind, List.of());
    }

    /// Copies of the datagrams that a lane sent last, the newest at the end.
    List<byte[]> latest(final LaneKind kind) {
        return latest.getOrDefault(kind, new ArrayDeque<>()).stream()
                .map(byte[]::clone)
                .toList();
    }

    /// Where the lane that was opened last receives.
    LaneAddress address(final LaneKind kind) {
        return Optional.ofNullable(addresses.get(kind)).orElseThrow();
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
                final Lane lane = inner.open(laneConfig);
                addresses.put(laneConfig.kind(), lane.address());
                final SendRing ring = laneConfig.send();
                return ring == null ? lane : new TappedLane(lane, laneConfig.kind(), ring);
            }
        };
    }

    private final class TappedLane extends ForwardingLane {
        private final LaneKind kind;
        private final SendRing ring;

        TappedLane(final Lane inner, final LaneKind kind, final SendRing ring) {
            super(inner);
            this.kind = kind;
            this.ring = ring;
        }

        private void keep(final int firstSlot, final int count) {
            final List<byte[]> kept = sent(kind);
            for (int i = 0; i < count; i++) {
                final byte[] datagram = datagram((firstSlot + i) % ring.slots());
                keepLatest(datagram);
                if (kept.size() < KEPT_MAX) {
                    kept.add(datagram);
                } else {
                    kept.set(FIRST_MAX + (int) (copies++ % (KEPT_MAX - FIRST_MAX)), datagram);
                }
            }
        }

        private void keepLatest(final byte[] datagram) {
            final Deque<byte[]> kept = latest.getOrDefault(kind, new ArrayDeque<>());
            if (kept.size() == LATEST_MAX) {
                kept.remove();
            }
            kept.add(datagram);
        }

        private byte[] datagram(final int slot) {
            final int header = ring.headerBytes();
            final int bytes = ring.payloadLengths()[slot];
            final MemorySegment datagram = MemorySegment.ofArray(new byte[header + bytes]);
            MemorySegment.copy(ring.headers(), (long) slot * header, datagram, 0, header);
            MemorySegment.copy(ring.payload(), (long) slot * ring.payloadBytes(), datagram, header, bytes);
            return (byte[]) datagram.heapBase().orElseThrow();
        }

        @Override
        public int multicast(final int firstSlot, final int count) {
            keep(firstSlot, count);
            return inner.multicast(firstSlot, count);
        }

        @Override
        public int unicast(final int peer, final int firstSlot, final int count) {
            keep(firstSlot, count);
            return inner.unicast(peer, firstSlot, count);
        }
    }
}
