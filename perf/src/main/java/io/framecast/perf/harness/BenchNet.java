package io.framecast.perf.harness;

/// The network between the publisher and its receivers.
public enum BenchNet {
    /// This machine's loopback.
    LOOPBACK("loopback"),
    /// Two network namespaces joined by a pair of interfaces.
    VETH("veth"),
    /// A network namespace for each process, joined by a bridge that floods multicast.
    BRIDGE("bridge");

    private final String label;

    BenchNet(final String label) {
        this.label = label;
    }

    /// As users write it.
    public String label() {
        return label;
    }
}
