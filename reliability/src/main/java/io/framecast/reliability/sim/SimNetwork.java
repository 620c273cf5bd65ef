package io.framecast.reliability.sim;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One source and many receivers: multicast takes each receiver's link on its own, so every receiver has its
/// own fate on every lane.
final class SimNetwork {
    private record Port(SimLink down, SimLink up, SimNode node) {}

    private final List<Port> ports = new ArrayList<>();
    private @Nullable SimNode source;
    private long sent;

    void source(final SimNode node) {
        source = node;
    }

    /// Attaches a receiver.
    ///
    /// @return its address
    int attach(final SimLink down, final SimLink up, final SimNode node) {
        ports.add(new Port(down, up, node));
        return ports.size() - 1;
    }

    /// From the source to everybody.
    void multicast(final SimLane lane, final MemorySegment datagram) {
        for (final Port port : ports) {
            if (!port.node.isStopped()) {
                sent++;
                port.down.send(lane, datagram, port.node::arrive);
            }
        }
    }

    /// From the source to one.
    void unicast(final int address, final SimLane lane, final MemorySegment datagram) {
        final Port port = ports.get(address);
        if (!port.node.isStopped()) {
            sent++;
            port.down.send(lane, datagram, port.node::arrive);
        }
    }

    /// From one to the source.
    void toSource(final int address, final MemorySegment datagram) {
        final SimNode node = source;
        if (node != null) {
            sent++;
            ports.get(address).up.send(SimLane.CONTROL, datagram, node::arrive);
        }
    }

    /// From one receiver to another.
    void between(final int from, final int to, final SimLane lane, final MemorySegment datagram) {
        final Port port = ports.get(to);
        if (!port.node.isStopped()) {
            sent++;
            ports.get(from).up.send(lane, datagram, (l, d) -> port.down.send(l, d, port.node::arrive));
        }
    }

    boolean isAddress(final int address) {
        return address >= 0 && address < ports.size();
    }

    /// Datagrams handed to links.
    long sent() {
        return sent;
    }

    /// Datagrams that links or full queues lost.
    long drops() {
        long drops = source == null ? 0 : source.overflows();
        for (final Port port : ports) {
            drops += port.node.overflows();
        }
        // Incarnations of one receiver share their links.
        return drops
                + ports.stream()
                        .map(Port::down)
                        .distinct()
                        .mapToLong(SimLink::drops)
                        .sum()
                + ports.stream()
                        .map(Port::up)
                        .distinct()
                        .mapToLong(SimLink::drops)
                        .sum();
    }
}
