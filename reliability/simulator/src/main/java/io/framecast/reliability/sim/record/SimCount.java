package io.framecast.reliability.sim.record;

import java.util.Locale;

/// Counters of a run, all processes together. The tool reports the counts up to [#TAKEOVERS], in this order.
public enum SimCount {
    /// In virtual time.
    EVENTS,
    /// Datagrams lost by links and full queues, on all lanes.
    DROPS,
    /// Datagrams of the data and repair lanes, each receiver's own, that did not arrive when and as they should:
    /// lost, broken, overtaken, so late that a NACK requests them again, or not sent for want of room.
    LOSSES,
    /// Datagrams sent again, each multicast once.
    REPAIRS,
    /// Members evicted by the source.
    EVICTIONS,
    /// Delivered.
    FRAMES,
    /// Frames dropped by receivers that the source does not wait for.
    GIVEN_UP,
    /// Processes killed.
    CRASHES,
    /// Processes started where one had been killed.
    RESTARTS,
    /// Processes stopped and continued.
    PAUSES,
    /// Receivers that joined a session again under a new identity, in one process.
    REJOINS,
    /// Directions of links cut.
    PARTITIONS,
    /// Directions of links held back for long.
    CLOGS,
    /// Users that kept their frames for long.
    STALLS,
    /// Co-roots replaced.
    FAILOVERS,
    /// Memberships that went on with another process of their host.
    TAKEOVERS,
    /// Repairs without a request.
    TIMEOUTS,
    /// Bytes handed to the network by sources, each multicast once.
    WIRE_BYTES,
    /// Payload delivered.
    DELIVERED_BYTES,
    /// Data datagrams, each counted once.
    SENT,
    /// ACKs, NACKs and requests that sources took, from the first publishing on.
    TAKEN,
    /// Heartbeats, ASSIGNs and REPAIR_GROUPs that sources sent, from the first publishing on.
    ANNOUNCED,
    /// Of the taken, those of co-roots.
    AGGREGATES,
    /// ACKs, NACKs and requests that went to co-roots.
    REPORTS,
    /// Repairs that co-roots sent.
    SET_REPAIRS,
    /// Grants that sources found in their memory.
    WORDS,
    /// Datagrams that sources wrote into co-roots' replicas.
    WRITTEN,
    /// Of the written, those that the co-root itself had missed, and took from there.
    OWNED,
    /// Datagrams read out of sources' windows.
    PULLS,
    /// Datagrams read out of co-roots' replicas.
    SET_PULLS,
    /// Reads that found something else there.
    STALE_PULLS,
    /// Connections that ended by themselves, or with their source.
    BROKEN_LINKS,
    /// Frames that members of host groups did not give, for their leader wrote there while they copied.
    TORN_COPIES,
    /// Acts of the adversary, floods counted once.
    ATTACKS,
    /// Of that, datagrams sealed with the keys of an epoch that was over.
    ABUSES;

    /// The name in JSON: `given_up`.
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
