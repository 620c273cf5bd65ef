package io.framecast.engine.hostile;

import io.framecast.api.provider.TransportProvider;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneKind;
import io.framecast.engine.testing.ScriptedLane;
import io.framecast.engine.testing.ScriptedTransport;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/// Has the lanes of a node also send the datagrams of [Garbage]: from the addresses that peers trust, to the
/// group and to every peer. One thread.
final class GarbageFlood {
    private final ScriptedTransport transport;
    private final Random random;
    private final Map<ScriptedLane, Garbage> garbage = new HashMap<>();
    private long sent;

    GarbageFlood(final TransportProvider real, final long seed) {
        random = new Random(seed);
        transport = new ScriptedTransport(real).forging().copying(this::learn);
    }

    /// What the node takes.
    ScriptedTransport transport() {
        return transport;
    }

    /// Hostile datagrams sent so far.
    long sent() {
        return sent;
    }

    /// Tries to send `count` garbage datagrams on each lane.
    void flood(final int count) {
        for (final ScriptedLane lane : lanes()) {
            for (int i = 0; i < count; i++) {
                sent += send(lane);
            }
        }
    }

    List<LaneAddress> addresses() {
        return lanes().stream().map(ScriptedLane::address).toList();
    }

    private List<ScriptedLane> lanes() {
        return transport.lanes().stream().filter(ScriptedLane::sends).toList();
    }

    private Garbage of(final ScriptedLane lane) {
        return garbage.computeIfAbsent(lane, _ -> new Garbage(random, lane.kind()));
    }

    // A datagram of the data lane is genuine on the repair lane too, where no request may follow it.
    private void learn(final ScriptedLane from, final byte[] datagram) {
        for (final ScriptedLane lane : lanes()) {
            if (lane == from || (from.kind() == LaneKind.DATA && lane.kind() == LaneKind.REPAIR)) {
                of(lane).learn(datagram);
            }
        }
    }

    private int send(final ScriptedLane lane) {
        final byte @Nullable [] datagram = lane.closes() > 0 ? null : of(lane).next(lane.forgedBytesMax());
        if (datagram == null) {
            return 0;
        }
        final List<Integer> peers = lane.peers();
        final int choice = random.nextInt(peers.size() + (lane.multicasts() ? 1 : 0) + 1) - 1;
        if (choice < 0 || choice >= peers.size()) {
            return lane.multicasts() ? lane.forge(ScriptedLane.GROUP, datagram) : 0;
        }
        return lane.forge(peers.get(choice), datagram);
    }
}
