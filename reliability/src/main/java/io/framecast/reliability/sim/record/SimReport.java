package io.framecast.reliability.sim.record;

import java.util.List;

/// The results of one simulated run.
///
/// @param seed it replays from
/// @param events in virtual time
/// @param traffic datagrams
/// @param delivery frames
/// @param control control datagrams between sources, co-roots and members
/// @param oneSided operations on sources' and co-roots' memory
/// @param gaps delays of repaired datagrams that others followed soon; in quiet runs
/// @param tails the same for datagrams without a successor soon
/// @param troubles faults of processes and links
/// @param timeNs virtual time it took
/// @param digest of all deliveries and decisions in order
/// @param violations empty for a correct run
public record SimReport(
        long seed,
        long events,
        Traffic traffic,
        Delivery delivery,
        Control control,
        OneSided oneSided,
        RepairTail gaps,
        RepairTail tails,
        Troubles troubles,
        long timeNs,
        long digest,
        List<String> violations) {
    /// Datagrams.
    ///
    /// @param drops lost by links and full queues, on all lanes
    /// @param losses of the data and repair lanes, each receiver's own: lost, broken, or so late that a NACK
    ///     requests them again
    /// @param repairs sent again, each multicast once
    /// @param timeouts of these, those without a request
    /// @param wireBytes handed to the network by sources, each multicast once
    public record Traffic(long drops, long losses, long repairs, long timeouts, long wireBytes) {
        /// Requested repairs per loss.
        public double repairRatio() {
            return (double) Math.max(0, repairs - timeouts) / Math.max(1, losses);
        }
    }

    /// Members' operations on their sources' and co-roots' memory.
    ///
    /// @param words grants that sources found there
    /// @param written datagrams that sources wrote into co-roots' replicas
    /// @param owned of these, those that the co-root itself had missed, and took from there
    /// @param pulls datagrams read out of sources' windows
    /// @param setPulls datagrams read out of co-roots' replicas
    /// @param stale reads that found something else there
    /// @param broken connections that ended by themselves, or with their source
    public record OneSided(long words, long written, long owned, long pulls, long setPulls, long stale, long broken) {}

    /// Frames, all receivers together.
    ///
    /// @param frames delivered
    /// @param givenUp dropped by receivers that the source does not wait for
    /// @param bytes payload delivered
    /// @param reliableNs time at which the last frame reached a reliable receiver
    public record Delivery(long frames, long givenUp, long bytes, long reliableNs) {}

    /// Control datagrams between sources, co-roots and members, from the first publishing on.
    ///
    /// @param sent data datagrams, each counted once
    /// @param taken ACKs, NACKs and requests that sources took
    /// @param announced heartbeats, ASSIGNs and REPAIR_GROUPs that sources sent
    /// @param aggregates of co-roots, among those taken
    /// @param reports ACKs, NACKs and requests that went to co-roots
    /// @param repairs datagrams that co-roots sent
    /// @param fed datagrams that went to co-roots by unicast
    public record Control(
            long sent, long taken, long announced, long aggregates, long reports, long repairs, long fed) {}

    /// The delay of a repair behind the original's arrival at the other receivers.
    ///
    /// @param count repairs
    public record RepairTail(long count, long p50Ns, long p99Ns, long maxNs) {}

    /// Faults of processes and links.
    ///
    /// @param crashes processes killed
    /// @param restarts processes started where one had been killed
    /// @param pauses processes stopped and continued
    /// @param rejoins receivers that joined a session again under a new identity, in one process
    /// @param evictions members evicted by the source
    /// @param failovers co-roots replaced
    /// @param weather faults of links and users
    public record Troubles(
            long crashes, long restarts, long pauses, long rejoins, long evictions, long failovers, Weather weather) {}

    /// Faults of links and users, as drawn.
    ///
    /// @param partitions directions of links cut
    /// @param clogs directions of links held back for long
    /// @param stalls users that kept their frames for long
    public record Weather(long partitions, long clogs, long stalls) {}

    public boolean isClean() {
        return violations.isEmpty();
    }

    public long drops() {
        return traffic.drops;
    }

    public long repairs() {
        return traffic.repairs;
    }

    public long wireBytes() {
        return traffic.wireBytes;
    }

    public long frames() {
        return delivery.frames;
    }

    public long givenUp() {
        return delivery.givenUp;
    }

    public long deliveredBytes() {
        return delivery.bytes;
    }

    public long reliableNs() {
        return delivery.reliableNs;
    }

    public long failovers() {
        return troubles.failovers;
    }

    public long evictions() {
        return troubles.evictions;
    }
}
