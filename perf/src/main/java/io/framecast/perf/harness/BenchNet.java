package io.framecast.perf.harness;

import io.framecast.api.error.ConfigException;
import java.util.Arrays;
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

    /// @throws io.framecast.api.error.ConfigException naming option, expectation and value
    public static BenchNet of(final String option, final String label) {
        return Arrays.stream(values())
                .filter(known -> known.label().equals(label))
                .findFirst()
                .orElseThrow(() -> new ConfigException(option + ": expected loopback, veth or bridge, got " + label));
    }
}
