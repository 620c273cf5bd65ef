package io.framecast.reliability.sim;

import io.framecast.reliability.sim.net.SimLane;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// One source and many receivers: multicast takes each receiver's link by itself, so each datagram has its own fate
/// for every receiver on every lane.
final class SimNetwork {
    /// The source's address; others count from 0.
    static final int SOURCE = -1;

    private final List<SimHost> hosts = new ArrayList<>();
    private @Nullable SimHost source;

    void source(final SimHost host) {
        source = host;
    }

    SimHost source() {
        return Objects.requireNonNull(source);
    }

    /// Attaches a receiver's host, and gives it its address.
    void attach(final SimHost host) {
        host.address(hosts.size());
        hosts.add(host);
    }

    /// The hosts of receivers.
    List<SimHost> hosts() {
        return Collections.unmodifiableList(hosts);
    }

    /// From the source to all receivers.
    void multicast(final SimLane lane, final MemorySegment datagram) {
        for (final SimHost host : hosts) {
            if (host.isUp()) {
                host.links().down().send(lane, datagram, host);
            }
        }
    }

    /// From the source to one receiver.
    void unicast(final int address, final SimLane lane, final MemorySegment datagram) {
        final SimHost host = hosts.get(address);
        if (host.isUp()) {
            host.links().down().send(lane, datagram, host);
        }
    }

    /// From one receiver to the source.
    void toSource(final int address, final MemorySegment datagram) {
        final SimHost host = source;
        if (host != null) {
            hosts.get(address).links().up().send(SimLane.CONTROL, datagram, host);
        }
    }

    /// From one receiver to another: out by the sender's link, in by the destination's.
    void between(final int from, final int to, final SimLane lane, final MemorySegment datagram) {
        final SimHost host = hosts.get(to);
        hosts.get(from).links().up().send(lane, datagram, (l, d) -> {
            if (host.isUp()) {
                host.links().down().send(l, d, host);
            }
        });
    }

    boolean isAddress(final int address) {
        return address >= 0 && address < hosts.size();
    }

    /// Datagrams that links or full queues lost.
    long drops() {
        long drops = source == null ? 0 : source.drops();
        for (final SimHost host : hosts) {
            drops += host.drops();
        }
        return drops;
    }

    /// Datagrams of the data and repair lanes that receivers lost, or got too late; each receiver's own.
    long losses() {
        long losses = 0;
        for (final SimHost host : hosts) {
            losses += host.losses();
        }
        return losses;
    }
}
