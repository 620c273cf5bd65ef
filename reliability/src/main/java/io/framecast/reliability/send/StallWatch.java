package io.framecast.reliability.send;

/// Detects a stream that stalls although every member is alive. On such a path control datagrams arrive, and
/// every datagram of full size is dropped (a lowered MTU, a filter). The same datagrams are then requested and
/// repaired for ever. A subscriber that consumes nothing is a different case, because it acknowledges the
/// datagrams it has room for.
///
/// Pure state; one thread. Times are nanoseconds since the engine's start.
public final class StallWatch {
    private final long patienceNs;
    private long acknowledged = -1;
    private long repairedBefore;
    private long sinceNs;
    private boolean reported;

    /// @param patienceNs duration of a stall before it is reported
    public StallWatch(final long patienceNs) {
        this.patienceNs = patienceNs;
    }

    /// At intervals: looks at the stream's progress.
    ///
    /// @param acknowledgedByAll sequence below which every member has everything
    /// @param next the next new sequence
    /// @param repaired datagrams repaired so far
    /// @return datagrams that were sent again since the stream stalled, once for each stall; else 0
    public long look(final long acknowledgedByAll, final long next, final long repaired, final long nowNs) {
        if (acknowledgedByAll != acknowledged || acknowledgedByAll >= next) {
            acknowledged = acknowledgedByAll;
            repairedBefore = repaired;
            sinceNs = nowNs;
            reported = false;
            return 0;
        }
        if (reported || repaired == repairedBefore || nowNs - sinceNs < patienceNs) {
            return 0;
        }
        reported = true;
        return repaired - repairedBefore;
    }
}
