package io.framecast.reliability.onesided;

/// Counts of datagrams read out of peers' windows. Written by the session's thread, read by any.
public final class ReadCounts {
    // Plain longs: a counter that is read a little late is good enough.
    long landed;
    long stale;
    long slow;

    ReadCounts() {}

    /// Datagrams that were read and became repairs.
    public long landed() {
        return landed;
    }

    /// Reads that found another datagram, or one that changed while it was read.
    public long stale() {
        return stale;
    }

    /// Datagrams that were not read because reads were slow.
    public long slow() {
        return slow;
    }
}
