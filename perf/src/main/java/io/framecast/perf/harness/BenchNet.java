package io.framecast.perf.harness;

import java.util.Locale;

/// The network between the publisher and its receivers.
public enum BenchNet {
    /// This machine's loopback.
    LOOPBACK,
    /// Two network namespaces joined by a pair of interfaces.
    VETH,
    /// A network namespace for each process, joined by a bridge that floods multicast.
    BRIDGE;

    /// As users write it.
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /// The one with a label that the command line has checked.
    public static BenchNet of(final String label) {
        return valueOf(label.toUpperCase(Locale.ROOT));
    }
}
