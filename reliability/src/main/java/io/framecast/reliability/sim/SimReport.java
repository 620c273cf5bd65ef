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
/// @param control what source and co-roots said to each other
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
        Control control,
        long reliableNs,
        long timeNs,
        long digest,
        List<String> violations) {
    /// What source and co-roots said to each other, from the first publishing on.
    ///
    /// @param sent data datagrams, each counted once
    /// @param taken ACKs, NACKs and requests that the source took
    /// @param told heartbeats, ASSIGNs and SETs that it sent
    /// @param aggregates of co-roots, among those taken
    /// @param reports ACKs and NACKs that co-roots took
    /// @param repairs datagrams that co-roots sent
    /// @param fed datagrams that went to co-roots by unicast
    /// @param failovers co-roots replaced
    public record Control(
            long sent, long taken, long told, long aggregates, long reports, long repairs, long fed, long failovers) {}

    public boolean isClean() {
        return violations.isEmpty();
    }
}
