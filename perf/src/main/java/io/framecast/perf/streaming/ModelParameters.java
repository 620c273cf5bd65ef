package io.framecast.perf.streaming;

import io.framecast.perf.models.CostModel;
import io.framecast.perf.table.Table;

/// The parameters of the models, measured at the beginning of a run, nothing else going on. Seconds, bytes,
/// bytes per second.
///
/// @param device by which copies were measured
/// @param toDevice a copy: start-up and bandwidth (B_H2D)
/// @param toHost the same the other way
/// @param unicast a hop from host to host
/// @param multicast a datagram from host to hosts
record ModelParameters(
        String device,
        CostModel.Hop toDevice,
        CostModel.Hop toHost,
        CostModel.Hop unicast,
        CostModel.Multicast multicast) {
    private static final double MB = 1e6;
    private static final double US = 1e6;

    static final Table<ModelParameters> TABLE = new Table<ModelParameters>()
            .field("device", ModelParameters::device)
            .field("copy_to_device_MBps", model -> model.toDevice.bandwidth() / MB)
            .field("copy_to_device_start_us", model -> model.toDevice.setUpSeconds() * US)
            .field("copy_to_host_MBps", model -> model.toHost.bandwidth() / MB)
            .field("copy_to_host_start_us", model -> model.toHost.setUpSeconds() * US)
            .field("unicast_MBps", model -> model.unicast.bandwidth() / MB)
            .field("unicast_start_us", model -> model.unicast.setUpSeconds() * US)
            .field("multicast_MBps", model -> model.multicast.bandwidth() / MB)
            .field("multicast_payload_bytes", model -> model.multicast.payloadBytes())
            .field("multicast_overhead_us", model -> model.multicast.overheadSeconds() * US);

    /// A line through two points: start-up and bandwidth. Where noise makes it absurd, a line through the
    /// origin and the longer.
    static CostModel.Hop fit(
            final double shortBytes, final double shortSeconds, final double longBytes, final double longSeconds) {
        final double perByte = (longSeconds - shortSeconds) / (longBytes - shortBytes);
        final double start = shortSeconds - shortBytes * perByte;
        return perByte > 0 && start >= 0
                ? new CostModel.Hop(start, 1 / perByte)
                : new CostModel.Hop(0, longBytes / longSeconds);
    }

    /// U/B_H and 1/a of eq. 10, t_s being left out as in §8, from what a datagram takes to one receiver and to
    /// several. Where receivers cost more than a logarithm, as they do on shared processors, nothing is left
    /// for U/B_H: the bandwidth is then infinite, and 1/a what is nearest to both.
    ///
    /// @param oneSeconds to one receiver, which are two processes
    /// @param processes of the other
    static CostModel.Multicast fitMulticast(
            final double payloadBytes, final double oneSeconds, final int processes, final double manySeconds) {
        final double overhead = CostModel.overheadSeconds(2, oneSeconds, processes, manySeconds);
        final double rest = oneSeconds - CostModel.overhead(overhead, 2);
        if (!(rest < 0)) {
            return new CostModel.Multicast(0, overhead, payloadBytes / rest, payloadBytes);
        }
        final double one = Math.log(2);
        final double many = Math.log(processes);
        final double nearest = (oneSeconds * one + manySeconds * many) / (one * one + many * many);
        return new CostModel.Multicast(0, nearest, Double.POSITIVE_INFINITY, payloadBytes);
    }
}
