package io.framecast.engine.node;

import org.jspecify.annotations.Nullable;

/// Notices a stream that stands still though everybody is alive: what lies between a source and a receiver drops every
/// datagram of full size (an MTU lowered on the way, a filter), control goes through, and the same datagrams are asked
/// for and sent again for ever. A subscriber that consumes nothing is no such case: it acknowledges what it has room
/// for.
///
/// Looked at now and then by the sender's thread; the time is the caller's.
final class StallWatch {
    private final String channel;
    private final long patienceNs;
    private long acknowledged = -1;
    private long repairedBefore;
    private long sinceNs;
    private boolean told;

    /// @param patienceNs how long that may last before it is told
    StallWatch(final String channel, final long patienceNs) {
        this.channel = channel;
        this.patienceNs = patienceNs;
    }

    /// @param acknowledgedByAll sequence below which every member has everything
    /// @param next the next new sequence
    /// @param repaired datagrams sent again so far
    /// @return what to tell the user; null mostly, and once for each time that the stream stands still
    @Nullable
    String look(final long acknowledgedByAll, final long next, final long repaired, final long nowNs) {
        if (acknowledgedByAll != acknowledged || acknowledgedByAll >= next) {
            acknowledged = acknowledgedByAll;
            repairedBefore = repaired;
            sinceNs = nowNs;
            told = false;
            return null;
        }
        if (told || repaired == repairedBefore || nowNs - sinceNs < patienceNs) {
            return null;
        }
        told = true;
        return "publisher of " + channel + ": a live subscriber has got nothing new for " + patienceNs / 1_000_000
                + " ms, though " + (repaired - repairedBefore)
                + " datagrams were sent again; something on the way drops"
                + " them: look at its MTU and firewall, or publish anew with a smaller mtu=";
    }
}
