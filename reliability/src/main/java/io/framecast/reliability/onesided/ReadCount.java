package io.framecast.reliability.onesided;

/// Counts of datagrams that were to be read out of peers' windows.
public enum ReadCount {
    /// Datagrams that were read and became repairs.
    ARRIVED,
    /// Reads that found another datagram, or one that changed while it was read.
    STALE,
    /// Datagrams that were not read because reads were slow.
    SLOW
}
