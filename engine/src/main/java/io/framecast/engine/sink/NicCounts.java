package io.framecast.engine.sink;

/// Counts of a NIC's copies into a device's memory, and of the copies that replaced them. Written by the receiver's
/// thread.
public final class NicCounts {
    long copiedBytes;
    long earlyRuns;
    long brokenRuns;

    /// Bytes that the NIC copied.
    public long copiedBytes() {
        return copiedBytes;
    }

    /// Runs that the copy engine copied because the connection was not up yet.
    public long earlyRuns() {
        return earlyRuns;
    }

    /// Runs that the copy engine copied because the connection was broken.
    public long brokenRuns() {
        return brokenRuns;
    }
}
