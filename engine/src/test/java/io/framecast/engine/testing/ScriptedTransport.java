package io.framecast.engine.testing;

import io.framecast.api.Channel;
import io.framecast.api.provider.TransportConfig;
import io.framecast.api.provider.TransportProvider;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.OneSided;
import io.framecast.api.spi.Transport;
import io.framecast.api.spi.TransportCapabilities;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// The transports of a real provider, changed as a test's script says: lanes break or do not open, datagrams are
/// lost, copied, late or forged, a NIC offers one-sided operations. Without a script each call goes to the real
/// transport, except for descriptors of readiness: agents poll. Counts the objects that it opened and closed.
///
/// One thread, except for [#lanesFail], [#opensUntilFailure] and the counts.
public final class ScriptedTransport implements TransportProvider {
    /// Takes a copy of each datagram that a lane accepts.
    @FunctionalInterface
    public interface Listener {
        void onSent(ScriptedLane lane, byte[] datagram);
    }

    /// While it is set, lanes throw when they poll, send or connect. Volatile, because agents read it.
    public volatile boolean lanesFail;

    /// Lanes that open before one throws.
    public final AtomicInteger opensUntilFailure = new AtomicInteger(Integer.MAX_VALUE);

    /// Late lanes of these kinds read nothing while the set holds them.
    public final Set<LaneKind> asleep = EnumSet.noneOf(LaneKind.class);

    private final TransportProvider real;
    private final List<Opened> transports = new CopyOnWriteArrayList<>();
    private final List<ScriptedLane> lanes = new CopyOnWriteArrayList<>();
    private final List<Listener> listeners = new ArrayList<>();
    private final Set<LaneKind> mute = EnumSet.noneOf(LaneKind.class);
    private double drops;
    private int lag;
    private boolean forges;
    private @Nullable OneSided nic;

    public ScriptedTransport(final TransportProvider real) {
        this.real = real;
    }

    /// Lanes drop received datagrams with this probability and post their slots again behind the others, like
    /// lanes that receive another session's datagrams.
    public ScriptedTransport dropping(final double probability) {
        drops = probability;
        return this;
    }

    /// The network loses each datagram that a lane of this kind sends to the group.
    public ScriptedTransport losing(final LaneKind kind) {
        mute.add(kind);
        return this;
    }

    /// Lanes read posted datagrams like a device: later, one by one, in order. The control lane reads at once.
    ///
    /// @param datagrams of a lane that it has not read yet, at most
    public ScriptedTransport late(final int datagrams) {
        lag = datagrams;
        return this;
    }

    /// The listener gets a copy of each datagram that a lane accepts.
    public ScriptedTransport copying(final Listener listener) {
        listeners.add(listener);
        return this;
    }

    /// Lanes can send forged datagrams ([ScriptedLane#forge]). They send the session's out of a ring of their
    /// own.
    public ScriptedTransport forging() {
        forges = true;
        return this;
    }

    /// The transports offer one-sided operations, all by one NIC.
    public ScriptedTransport with(final OneSided only) {
        nic = only;
        return this;
    }

    /// All lanes that were opened, in this order.
    public List<ScriptedLane> lanes() {
        return lanes;
    }

    /// Number of lanes that were opened.
    public int opened() {
        return lanes.size();
    }

    /// Where the lane that was opened last receives.
    public LaneAddress address(final LaneKind kind) {
        return lanes.stream()
                .filter(lane -> lane.kind() == kind)
                .reduce((_, last) -> last)
                .orElseThrow()
                .address();
    }

    /// Peers that open lanes hold.
    public int peers() {
        return lanes.stream()
                .filter(lane -> lane.closes() == 0)
                .mapToInt(lane -> lane.peers().size())
                .sum();
    }

    /// One line for each object that was not closed exactly once.
    public List<String> leaks() {
        final List<String> leaks = new ArrayList<>();
        for (final Opened transport : transports) {
            if (transport.closes.get() != 1) {
                leaks.add("transport closed " + transport.closes.get() + " times");
            }
        }
        for (final ScriptedLane lane : lanes) {
            if (lane.closes() != 1) {
                leaks.add("lane " + lane.kind() + " closed " + lane.closes() + " times");
            }
        }
        return leaks;
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
    public Optional<String> unavailable(final Channel channel) {
        return real.unavailable(channel);
    }

    @Override
    public int rank() {
        return real.rank();
    }

    @Override
    public Transport open(final TransportConfig config) {
        final Opened transport = new Opened(real.open(config));
        transports.add(transport);
        return transport;
    }

    boolean forges() {
        return forges;
    }

    double drops() {
        return drops;
    }

    boolean isLost(final LaneKind kind) {
        return mute.contains(kind);
    }

    /// Datagrams that a lane of this kind accepts before it reads them, at most.
    int lag(final LaneKind kind) {
        return kind == LaneKind.CONTROL ? 0 : lag;
    }

    void requireSound(final LaneKind kind) {
        if (lanesFail) {
            throw new IllegalStateException("injected: lane " + kind + " is broken");
        }
    }

    boolean isListened() {
        return !listeners.isEmpty();
    }

    void onSent(final ScriptedLane lane, final byte[] datagram) {
        listeners.forEach(listener -> listener.onSent(lane, datagram));
    }

    private final class Opened implements Transport {
        private final Transport inner;
        private final AtomicInteger closes = new AtomicInteger();

        Opened(final Transport inner) {
            this.inner = inner;
        }

        @Override
        public TransportCapabilities capabilities() {
            final TransportCapabilities known = inner.capabilities();
            return nic == null
                    ? known
                    : new TransportCapabilities(
                            known.name(),
                            known.hardwareMulticast(),
                            known.deviceMemory(),
                            true,
                            true,
                            known.maxScatter(),
                            known.headerReserveBytes(),
                            known.datagramBytesMax(),
                            known.placement());
        }

        @Override
        public boolean isOneHost(final LaneAddress first, final LaneAddress second) {
            return inner.isOneHost(first, second);
        }

        @Override
        public @Nullable OneSided oneSided() {
            return nic;
        }

        @Override
        public Lane open(final LaneConfig config) {
            if (opensUntilFailure.getAndDecrement() <= 0) {
                throw new IllegalStateException("injected: lane " + config.kind() + " does not open");
            }
            final ScriptedLane lane = ScriptedLane.open(ScriptedTransport.this, inner, config);
            lanes.add(lane);
            return lane;
        }

        @Override
        public void close() {
            closes.incrementAndGet();
            inner.close();
        }
    }
}
