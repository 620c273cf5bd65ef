package io.framecast.perf.tail;

import io.framecast.perf.table.Percentiles;

/// The result of one case.
///
/// @param capacityFps frames per second that were taken when as many were published as were taken
/// @param ping round trips of a small datagram during the stream
/// @param sourceTripUs median of the source's smoothed round trip, which it paces repairs by
/// @param lost datagrams diverted at a tap, of the whole stream, all subscribers together
/// @param repaired datagrams that arrived by the repair lane and were needed, as subscribers count them
record TailRow(
        TailCase setting,
        double capacityFps,
        double offeredFps,
        Percentiles ping,
        double sourceTripUs,
        long lost,
        long repaired,
        TailJoin.Result late) {
    private static final double TRIPS = 2;
    private static final double MARGIN_US = 100;

    /// The bound for 99 of 100 repairs: two round trips, as a ping takes them, and 100 µs.
    double boundUs() {
        return TRIPS * ping.p50Us() + MARGIN_US;
    }
}
