package io.framecast.api;

/// Counts of the requests of kernels to a [DeviceRequests], from its opening to the call. Immutable; the caller
/// is the thread that serves the requests, so the counts fit each other.
///
/// @param published requests done
/// @param bytes their bytes
/// @param refused requests that named an unknown channel, memory that is not allowed, or an impossible length
/// @param closed requests whose publisher, or this queue, was closed
/// @param waiting requests taken and not answered yet
public record RequestStats(long published, long bytes, long refused, long closed, int waiting) {}
