package io.framecast.api;

import java.util.List;

/// Counts of a publisher since it was opened.
///
/// @param frames frames taken
/// @param bytes payload bytes taken
/// @param backPressured calls answered BACK_PRESSURED
/// @param sentDatagrams data-lane datagrams, each counted once
/// @param repairedDatagrams retransmissions
/// @param evictedSubscribers subscribers evicted: silent for alive-timeout, or slower than their
///     `delivery=evict=…` allows
/// @param members up to 64 of the subscribers that are ready, as of about 0.1 s ago
/// @param evictions the latest 16 evictions, the oldest first
public record PublisherStats(
        long frames,
        long bytes,
        long backPressured,
        long sentDatagrams,
        long repairedDatagrams,
        long evictedSubscribers,
        List<MemberStats> members,
        List<Eviction> evictions) {
    public PublisherStats {
        members = List.copyOf(members);
        evictions = List.copyOf(evictions);
    }
}
