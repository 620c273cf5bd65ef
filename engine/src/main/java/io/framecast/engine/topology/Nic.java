package io.framecast.engine.topology;

import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A network interface, or an RDMA device without one.
///
/// @param rdmaDevice the RDMA device on the same function; empty where there is none
/// @param isUp whether its link is up
/// @param functions its PCI functions: of a bond those of its members; none for a virtual interface
/// @param kind of an interface without a function of its own: `loopback`, `bridge`, `virtual`, or the interfaces that
///     it stands on, `on eth0, eth1`
public record Nic(String name, String rdmaDevice, boolean isUp, List<PciPath> functions, String kind) {
    public Nic {
        functions = List.copyOf(functions);
    }

    /// To the nearest of its functions.
    public Distance to(final @Nullable PciPath other) {
        return functions.stream()
                .map(function -> Distance.between(function, other))
                .min(Comparator.naturalOrder())
                .orElse(Distance.NONE);
    }

    /// The NUMA node that it writes from, or [NumaNode#UNKNOWN]: also where its functions are on several.
    public int node() {
        final List<Integer> nodes =
                functions.stream().map(PciPath::node).distinct().toList();
        return nodes.size() == 1 ? nodes.getFirst() : NumaNode.UNKNOWN;
    }
}
