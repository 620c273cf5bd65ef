package io.framecast.reliability.sim;

import io.framecast.reliability.sim.net.SimLane;
import io.framecast.reliability.sim.plan.LinkSpec;
import io.framecast.reliability.sim.secure.Adversary;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// One source and many receivers: multicast takes each receiver's link by itself, so each datagram has its own
/// fate for every receiver on every lane.
final class SimNetwork {
    /// The source's address; receivers count from 0.
    static final int SOURCE = Adversary.SOURCE;

    // A link counts datagrams that it holds for longer.
    private static final long LATE_NS = 1_000_000;

    /// A stranger at a host of its own, which hears all multicast. It is no receiver, and no host of the run.
    interface Stranger {
        /// The stranger's addresses, and those of hosts that asked for nothing, behind those of the receivers.
        int addresses();

        /// The source sends to all.
        void hear(SimLane lane, MemorySegment datagram);

        /// A host sends to one.
        ///
        /// @param stranger the number of one of the stranger's addresses; negative for an address of a receiver
        void see(int stranger, SimLane lane, MemorySegment datagram);
    }

    private final List<SimHost> hosts = new ArrayList<>();
    private @Nullable SimHost source;
    private @Nullable Adversary adversary;
    private @Nullable Stranger stranger;

    void source(final SimHost host) {
        source = host;
    }

    SimHost source() {
        return Objects.requireNonNull(source);
    }

    /// Attaches a receiver's host, whose address is the number of those before it.
    void attach(final SimHost host) {
        hosts.add(host);
    }

    /// The hosts of receivers.
    List<SimHost> hosts() {
        return Collections.unmodifiableList(hosts);
    }

    /// An attacker sees all datagrams.
    void watchedBy(final Adversary made) {
        adversary = made;
    }

    /// A stranger is there too.
    void joinedBy(final Stranger made) {
        stranger = made;
    }

    /// From the stranger to the source.
    void fromStranger(final MemorySegment datagram) {
        source().arrive(SimLane.CONTROL, datagram);
    }

    // Whether the address is none of a receiver.
    private boolean isStrange(final int address, final SimLane lane, final MemorySegment datagram) {
        final Stranger one = stranger;
        if (one != null) {
            one.see(address - hosts.size(), lane, datagram);
        }
        return address >= hosts.size();
    }

    private void show(final int from, final int to, final SimLane lane, final MemorySegment datagram) {
        if (adversary != null) {
            adversary.see(from, to, lane, datagram);
        }
    }

    /// How the adversary reaches the hosts: not by their links, which would count losses.
    Adversary.Wire attacked(final LinkSpec link) {
        return new Adversary.Wire() {
            @Override
            public int receivers() {
                return hosts.size();
            }

            @Override
            public long transitMaxNs() {
                return 4 * (link.delayNs() + link.jitterNs()) + LATE_NS;
            }

            @Override
            public void deliver(final int to, final SimLane lane, final MemorySegment datagram) {
                final SimHost host = to == SOURCE ? source() : hosts.get(to);
                host.arrive(lane, datagram);
            }
        };
    }

    /// From the source to all receivers.
    void multicast(final SimLane lane, final MemorySegment datagram) {
        show(SOURCE, Adversary.ALL, lane, datagram);
        if (stranger != null) {
            stranger.hear(lane, datagram);
        }
        for (final SimHost host : hosts) {
            if (host.listens()) {
                host.links().down().send(lane, datagram, host);
            }
        }
    }

    /// From the source to one receiver.
    void unicast(final int address, final SimLane lane, final MemorySegment datagram) {
        show(SOURCE, address, lane, datagram);
        if (isStrange(address, lane, datagram)) {
            return;
        }
        final SimHost host = hosts.get(address);
        if (host.isUp()) {
            host.links().down().send(lane, datagram, host);
        }
    }

    /// From one receiver to the source.
    void toSource(final int address, final MemorySegment datagram) {
        show(address, SOURCE, SimLane.CONTROL, datagram);
        final SimHost host = source;
        if (host != null) {
            hosts.get(address).links().up().send(SimLane.CONTROL, datagram, host);
        }
    }

    /// From one receiver to another: out by the sender's link, in by the destination's.
    void between(final int from, final int to, final SimLane lane, final MemorySegment datagram) {
        show(from, to, lane, datagram);
        if (isStrange(to, lane, datagram)) {
            return;
        }
        final SimHost host = hosts.get(to);
        hosts.get(from).links().up().send(lane, datagram, (l, d) -> {
            if (host.isUp()) {
                host.links().down().send(l, d, host);
            }
        });
    }

    /// An address, or another small number, on the wire.
    static byte[] name(final int number) {
        return new byte[] {(byte) (number >>> 8), (byte) number};
    }

    /// @param name from the wire
    /// @return −1 where it is none
    static int number(final byte[] name) {
        return name.length == 2 ? ((name[0] & 0xff) << 8) | (name[1] & 0xff) : -1;
    }

    boolean isAddress(final int address) {
        return address >= 0 && address < hosts.size() + (stranger == null ? 0 : stranger.addresses());
    }
}
