package io.framecast.reliability.onesided;

import static io.framecast.reliability.count.Metric.Unit.DATAGRAMS;

import io.framecast.reliability.count.Export;

/// Counts of datagrams that were to be read out of peers' windows. A receiver counts them for its source and for
/// its co-root; each constant says how either is exported, in the order in which sessions export them.
public enum ReadCount {
    /// Datagrams that were read and became repairs.
    ARRIVED(
            Export.oneSided("pulled_datagrams_total", DATAGRAMS, "Datagrams read from the source's window by RDMA."),
            Export.oneSided(
                    "set_pulled_datagrams_total", DATAGRAMS, "Datagrams read from a co-root's replica by RDMA.")),
    /// Datagrams that were not read because reads were slow.
    SLOW(Export.fallback("slow_pull"), Export.fallback("slow_set_pull")),
    /// Reads that found another datagram, or one that changed while it was read.
    STALE(Export.fallback("stale_pull"), Export.fallback("stale_set_pull"));

    // A record of constants.
    @SuppressWarnings("ImmutableEnumChecker")
    private final Export ofSource;

    // A record of constants.
    @SuppressWarnings("ImmutableEnumChecker")
    private final Export ofCoRoot;

    ReadCount(final Export ofSource, final Export ofCoRoot) {
        this.ofSource = ofSource;
        this.ofCoRoot = ofCoRoot;
    }

    /// How operators see reads of the source's window.
    public Export ofSource() {
        return ofSource;
    }

    /// How operators see reads of a co-root's replica.
    public Export ofCoRoot() {
        return ofCoRoot;
    }
}
