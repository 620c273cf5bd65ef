package io.framecast.api;

/// Counts of a publisher since it was opened.
///
/// @param frames frames taken
/// @param bytes payload bytes taken
/// @param backPressured calls answered BACK_PRESSURED
/// @param sentDatagrams data-lane datagrams, each counted once
/// @param repairedDatagrams retransmissions
/// @param evictedSubscribers subscribers evicted: silent for alive-timeout, or slower than their
///     `delivery=evict=…` allows
public record PublisherStats(
        long frames,
        long bytes,
        long backPressured,
        long sentDatagrams,
        long repairedDatagrams,
        long evictedSubscribers) {}
