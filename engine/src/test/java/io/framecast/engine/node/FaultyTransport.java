package io.framecast.engine.node;

import io.framecast.api.provider.TransportConfig;
import io.framecast.api.provider.TransportProvider;
import io.framecast.api.spi.Completions;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.Transport;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/// Real transports whose opening and lanes fail on request, and which count opened and closed objects.
public final class FaultyTransport implements TransportProvider {
    /// Switches of the failures; volatile, because agents read them.
    public volatile boolean lanesFail;

    public final AtomicInteger opensUntilFailure = new AtomicInteger(Integer.MAX_VALUE);
    private final TransportProvider real;
    private final List<Counted> transports = new CopyOnWriteArrayList<>();

    public FaultyTransport(final TransportProvider real) {
        this.real = real;
    }

    /// One line for each object that was not closed exactly once.
    public List<String> leaks() {
        final List<String> leaks = new ArrayList<>();
        for (final Counted transport : transports) {
            if (transport.closes.get() != 1) {
                leaks.add("transport closed " + transport.closes.get() + " times");
            }
            for (final FaultyLane lane : transport.lanes) {
                if (lane.closes.get() != 1) {
                    leaks.add("lane " + lane.kind + " closed " + lane.closes.get() + " times");
                }
            }
        }
        return leaks;
    }

    /// Peers that open lanes hold.
    int peers() {
        return transports.stream()
                .flatMap(transport -> transport.lanes.stream())
                .filter(lane -> lane.closes.get() == 0)
                .mapToInt(lane -> lane.peers.get())
                .sum();
    }

    public int opened() {
        return transports.stream().mapToInt(transport -> transport.lanes.size()).sum();
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
        final Counted transport = new Counted(real.open(config));
        transports.add(transport);
        return transport;
    }

    private final class Counted extends ForwardingTransport {
        private final List<FaultyLane> lanes = new CopyOnWriteArrayList<>();
        private final AtomicInteger closes = new AtomicInteger();

        Counted(final Transport inner) {
            super(inner);
        }

        @Override
        public Lane open(final LaneConfig config) {
            if (opensUntilFailure.getAndDecrement() <= 0) {
                throw new IllegalStateException("injected: lane " + config.kind() + " does not open");
            }
            final FaultyLane lane = new FaultyLane(config.kind(), inner.open(config));
            lanes.add(lane);
            return lane;
        }

        @Override
        public void close() {
            closes.incrementAndGet();
            super.close();
        }
    }

    private final class FaultyLane extends ForwardingLane {
        private final AtomicInteger peers = new AtomicInteger();
        private final LaneKind kind;
        private final AtomicInteger closes = new AtomicInteger();

        FaultyLane(final LaneKind kind, final Lane inner) {
            super(inner);
            this.kind = kind;
        }

        private void fail() {
            if (lanesFail) {
                throw new IllegalStateException("injected: lane " + kind + " is broken");
            }
        }

        @Override
        public int poll(final Completions completions) {
            fail();
            return inner.poll(completions);
        }

        @Override
        public int multicast(final int firstSlot, final int count) {
            fail();
            return inner.multicast(firstSlot, count);
        }

        @Override
        public int unicast(final int peer, final int firstSlot, final int count) {
            fail();
            return inner.unicast(peer, firstSlot, count);
        }

        @Override
        public int connect(final LaneAddress peer) {
            fail();
            peers.incrementAndGet();
            return inner.connect(peer);
        }

        @Override
        public void disconnect(final int peer) {
            peers.decrementAndGet();
            inner.disconnect(peer);
        }

        @Override
        public void close() {
            closes.incrementAndGet();
            super.close();
        }
    }
}
