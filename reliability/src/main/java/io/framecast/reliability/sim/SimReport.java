package io.framecast.reliability.sim;

import java.util.List;

/// What one simulated run did.
///
/// @param seed it replays from
/// @param events in virtual time
/// @param drops datagrams lost by links and full queues
/// @param repairs datagrams sent again
/// @param frames frames delivered, all receivers together
/// @param deliveredBytes payload of those
/// @param wireBytes bytes handed to the network by the source, each multicast once
/// @param evictions members the source gave up
/// @param timeNs virtual time it took
/// @param digest of all deliveries and decisions in order
/// @param violations empty for a correct run
public record SimReport(
        long seed,
        long events,
        long drops,
        long repairs,
        long frames,
        long deliveredBytes,
        long wireBytes,
        long evictions,
        long timeNs,
        long digest,
        List<String> violations) {
    public boolean isClean() {
        return violations.isEmpty();
    }
}
