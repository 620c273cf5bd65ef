package io.framecast.perf.tail;

import java.util.List;

/// The report of one process of a stream.
///
/// @param log empty where the stream went as fast as it was taken
/// @param clockNs its clock at the end
/// @param repaired datagrams that arrived by the repair lane and were needed; of a subscriber
/// @param framesPerSecond as many as were taken; of a publisher without a rate, as the next two of one with a rate
/// @param pingNs round trips of a small datagram
/// @param sourceRttNs the source's smoothed round trips
record TailReport(
        TailLog log, long clockNs, long repaired, double framesPerSecond, List<Long> pingNs, List<Long> sourceRttNs) {}
