package io.framecast.perf.alltoall;

import io.framecast.perf.harness.Links;
import io.framecast.perf.table.Statistics;
import java.util.List;

/// One measurement of a scheme; NaN stands for a figure that is not known.
///
/// @param singleUs of one broadcast, at the process that had it last
/// @param severalUs of one broadcast of each process at once
/// @param goodputMBps at each process, back to back
/// @param linkShare of its link that a process received
/// @param sentPerByte bytes that a process sent for each byte of its own frames
/// @param busyShare of the machine's processors
record AllToAllRound(
        double singleUs, double severalUs, double goodputMBps, double linkShare, double sentPerByte, double busyShare) {
    private static final double NONE = Double.NaN;

    /// @param single reports of one broadcast at a time
    /// @param several of one of each process at once, and of frames back to back
    /// @param bytes that each process sent back to back
    static AllToAllRound of(
            final Links links,
            final List<AllToAllReport> single,
            final List<AllToAllReport> several,
            final double bytes) {
        final AllToAllReport coordinator = several.getFirst();
        final boolean isKnown = coordinator.link().sentBytes() >= 0;
        return new AllToAllRound(
                Statistics.of(single.getFirst().roundsUs()).median(),
                Statistics.of(coordinator.roundsUs()).median(),
                bytes * (several.size() - 1) / coordinator.seconds() / 1e6,
                !isKnown
                        ? NONE
                        : several.stream()
                                .mapToDouble(one -> links.share(
                                        one.link().receivedBytes(), one.link().seconds()))
                                .min()
                                .orElse(NONE),
                !isKnown
                        ? NONE
                        : several.stream()
                                .mapToDouble(one -> one.link().sentBytes() / bytes)
                                .max()
                                .orElse(NONE),
                isKnown ? coordinator.link().busyShare() : NONE);
    }
}
