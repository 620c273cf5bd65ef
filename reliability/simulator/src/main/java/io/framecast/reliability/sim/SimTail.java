package io.framecast.reliability.sim;

import io.framecast.reliability.sim.record.SimReport;
import java.util.ArrayList;
import java.util.List;
import org.agrona.collections.LongArrayList;

/// The delay of repaired datagrams in quiet runs, against the moment at which the datagram reached all receivers
/// that did not lose it.
///
/// A *tail* loss is one without a datagram soon behind it: only heartbeats announce it.
final class SimTail {
    /// One datagram more than the allowance for overtaking ones.
    static final int FOLLOWERS = SimReception.REORDER_QUIET + 1;

    private static final long SOON_NS = 100_000;

    private final long delayNs;
    private final LongArrayList sentNs = new LongArrayList();
    private final List<Repair> repairs = new ArrayList<>();

    private record Repair(long sequence, long delayNs) {}

    /// @param delayNs of a link
    SimTail(final long delayNs) {
        this.delayNs = delayNs;
    }

    /// A datagram was sent for the first time; sequences ascend from 0.
    void onSent(final long timeNs) {
        sentNs.addLong(timeNs);
    }

    /// A receiver got it by a repair.
    void onRepaired(final long sequence, final long timeNs) {
        repairs.add(new Repair(sequence, timeNs - sentNs.getLong((int) sequence) - delayNs));
    }

    private boolean isTail(final long sequence) {
        final int follower = (int) sequence + FOLLOWERS;
        return follower >= sentNs.size() || sentNs.getLong(follower) - sentNs.getLong((int) sequence) > SOON_NS;
    }

    SimReport.RepairTail gaps() {
        return summary(false);
    }

    SimReport.RepairTail tails() {
        return summary(true);
    }

    private SimReport.RepairTail summary(final boolean tails) {
        final long[] sorted = repairs.stream()
                .filter(repair -> isTail(repair.sequence) == tails)
                .mapToLong(Repair::delayNs)
                .sorted()
                .toArray();
        return new SimReport.RepairTail(sorted.length, at(sorted, 0.5), at(sorted, 0.99), at(sorted, 1));
    }

    private static long at(final long[] sorted, final double share) {
        return sorted.length == 0 ? 0 : sorted[(int) Math.min(sorted.length - 1, (long) (share * sorted.length))];
    }
}
