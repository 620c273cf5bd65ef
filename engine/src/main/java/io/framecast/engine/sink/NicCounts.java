package io.framecast.engine.sink;

/// What a NIC has copied into a device's memory, and what it has not. Written by the receiver's thread.
public final class NicCounts {
    long copiedBytes;
    long earlyRuns;
    long brokenRuns;

    /// Bytes that it copied.
    public long copiedBytes() {
        return copiedBytes;
    }

    /// Runs that the copy engine took because the connection was not up yet.
    public long earlyRuns() {
        return earlyRuns;
    }

    /// Runs that it took because the connection was broken.
    public long brokenRuns() {
        return brokenRuns;
    }
}
