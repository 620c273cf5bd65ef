package io.framecast.engine.publish;

import org.jspecify.annotations.Nullable;

/// Detects a stream that stalls although every member is alive. On such a path control datagrams arrive, and every
/// datagram of full size is dropped (a lowered MTU, a filter). The same datagrams are then requested and repaired
/// for ever. A subscriber that consumes nothing is a different case, because it acknowledges the datagrams it has
/// room for.
///
/// The sender's thread calls it at intervals, and passes the time.
final class StallWatch {
    private final String channel;
    private final long patienceNs;
    private long acknowledged = -1;
    private long repairedBefore;
    private long sinceNs;
    private boolean reported;

    /// @param patienceNs duration of a stall before it is reported
    StallWatch(final String channel, final long patienceNs) {
        this.channel = channel;
        this.patienceNs = patienceNs;
    }

    /// @param acknowledgedByAll sequence below which every member has everything
    /// @param next the next new sequence
    /// @param repaired datagrams repaired so far
    /// @return the notice for the user, once for each stall; otherwise null
    @Nullable
    String look(final long acknowledgedByAll, final long next, final long repaired, final long nowNs) {
        if (acknowledgedByAll != acknowledged || acknowledgedByAll >= next) {
            acknowledged = acknowledgedByAll;
            repairedBefore = repaired;
            sinceNs = nowNs;
            reported = false;
            return null;
        }
        if (reported || repaired == repairedBefore || nowNs - sinceNs < patienceNs) {
            return null;
        }
        reported = true;
        return "publisher of " + channel + ": a live subscriber has got nothing new for " + patienceNs / 1_000_000
                + " ms, though " + (repaired - repairedBefore)
                + " datagrams were sent again; something on the way drops"
                + " them: look at its MTU and firewall, or publish anew with a smaller mtu=";
    }
}
