package io.framecast.engine.topology;

import org.jspecify.annotations.Nullable;

/// How far two PCI functions are from each other, nearest first: the words of `nvidia-smi topo -m`.
public enum Distance {
    /// The same function.
    X,
    /// By one bridge at most on either side: functions of one card, ports of one switch.
    PIX,
    /// By several bridges, and not by the host bridge.
    PXB,
    /// By the host bridge.
    PHB,
    /// By two host bridges of one NUMA node.
    NODE,
    /// By the link between NUMA nodes, or by parts of which no node is known.
    SYS,
    /// One of them is no PCI function: a virtual interface, an emulated device.
    NONE;

    static Distance between(final @Nullable PciPath one, final @Nullable PciPath other) {
        if (one == null || other == null) {
            return NONE;
        }
        if (one.address().equals(other.address())) {
            return X;
        }
        int common = 0;
        while (common < one.depth() - 1
                && common < other.depth() - 1
                && one.element(common).equals(other.element(common))) {
            common++;
        }
        if (common == 0) {
            return one.node() != NumaNode.UNKNOWN && one.node() == other.node() ? NODE : SYS;
        }
        if (common == 1) {
            return PHB;
        }
        return Math.max(one.depth(), other.depth()) - 1 - common <= 1 ? PIX : PXB;
    }

    /// The word as a table shows it.
    public String word() {
        return this == NONE ? "-" : name();
    }
}
