package io.framecast.reliability.sim;

import java.util.List;

/// What one simulated run did.
///
/// @param seed it replays from
/// @param events in virtual time
/// @param drops datagrams lost by links and full queues
/// @param repairs datagrams sent again
/// @param frames frames delivered, all receivers together
/// @param givenUp frames given up by receivers that the source does not wait for
/// @param deliveredBytes payload of those
/// @param wireBytes bytes handed to the network by the source, each multicast once
/// @param evictions members the source gave up
/// @param reliableNs when the last frame reached a reliable receiver
/// @param timeNs virtual time it took
/// @param digest of all deliveries and decisions in order
/// @param violations empty for a correct run
public record SimReport(
        long seed,
        long events,
        long drops,
        long repairs,
        long frames,
        long givenUp,
        long deliveredBytes,
        long wireBytes,
        long evictions,
        long reliableNs,
        long timeNs,
        long digest,
        List<String> violations) {
    public boolean isClean() {
        return violations.isEmpty();
    }
}
