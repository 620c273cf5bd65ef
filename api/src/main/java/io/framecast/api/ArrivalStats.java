package io.framecast.api;

/// Counts of an [Arrival], from its opening to the call. Immutable; the caller is the thread that serves the
/// arrival, so the counts fit each other.
///
/// @param frames frames written to the ring
/// @param events entries for losses and for sources and subscribers that come and go
/// @param returned entries that the kernel gave back
/// @param outstanding entries that it has not
/// @param lostFrames frames reported lost
/// @param mergedLosses losses reported together with the one before, because the kernel took no entries
public record ArrivalStats(
        long frames, long events, long returned, int outstanding, long lostFrames, long mergedLosses) {}
