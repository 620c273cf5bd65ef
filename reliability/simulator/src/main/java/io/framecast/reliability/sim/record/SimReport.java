package io.framecast.reliability.sim.record;

import java.util.List;
import java.util.Map;
import java.util.Objects;

/// The results of one simulated run.
///
/// @param seed it replays from
/// @param counts of every kind
/// @param gaps delays of repaired datagrams that others followed soon; in quiet runs
/// @param tails the same for datagrams without a successor soon
/// @param reliableNs time at which the last frame reached a reliable receiver
/// @param timeNs virtual time it took
/// @param digest of all deliveries and decisions in order
/// @param violations empty for a correct run
public record SimReport(
        long seed,
        Map<SimCount, Long> counts,
        RepairTail gaps,
        RepairTail tails,
        long reliableNs,
        long timeNs,
        long digest,
        List<String> violations) {

    /// The delay of a repair behind the original's arrival at the other receivers.
    ///
    /// @param count repairs
    public record RepairTail(long count, long p50Ns, long p99Ns, long maxNs) {}

    public boolean isClean() {
        return violations.isEmpty();
    }

    public long of(final SimCount what) {
        return Objects.requireNonNull(counts.get(what));
    }

    /// Requested repairs per loss.
    public double repairRatio() {
        return (double) Math.max(0, of(SimCount.REPAIRS) - of(SimCount.TIMEOUTS)) / Math.max(1, of(SimCount.LOSSES));
    }
}
