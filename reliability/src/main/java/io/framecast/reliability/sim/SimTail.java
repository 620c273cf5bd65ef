package io.framecast.reliability.sim;

import io.framecast.reliability.sim.record.SimReport;
import java.util.Arrays;

/// The delay of repaired datagrams in quiet runs, against the moment at which the datagram reached all receivers
/// that did not lose it.
///
/// A *tail* loss is one without a datagram soon behind it: only heartbeats announce it.
final class SimTail {
    /// One datagram more than the allowance for overtaking ones.
    static final int FOLLOWERS = SimReception.REORDER_QUIET + 1;

    private static final long SOON_NS = 100_000;

    private final long delayNs;
    private long[] sentNs = new long[1024];
    private long sent;
    private long[] delaysNs = new long[256];
    private long[] sequences = new long[256];
    private int repaired;

    /// @param delayNs of a link
    SimTail(final long delayNs) {
        this.delayNs = delayNs;
    }

    /// A datagram was sent for the first time; sequences ascend from 0.
    void onSent(final long timeNs) {
        if (sent == sentNs.length) {
            sentNs = Arrays.copyOf(sentNs, 2 * sentNs.length);
        }
        sentNs[(int) sent++] = timeNs;
    }

    /// A receiver got it by a repair.
    void onRepaired(final long sequence, final long timeNs) {
        if (repaired == delaysNs.length) {
            delaysNs = Arrays.copyOf(delaysNs, 2 * repaired);
            sequences = Arrays.copyOf(sequences, 2 * repaired);
        }
        sequences[repaired] = sequence;
        delaysNs[repaired++] = timeNs - sentNs[(int) sequence] - delayNs;
    }

    private boolean isTail(final long sequence) {
        final long follower = sequence + FOLLOWERS;
        return follower >= sent || sentNs[(int) follower] - sentNs[(int) sequence] > SOON_NS;
    }

    SimReport.RepairTail gaps() {
        return summary(false);
    }

    SimReport.RepairTail tails() {
        return summary(true);
    }

    private SimReport.RepairTail summary(final boolean tails) {
        final long[] some = new long[repaired];
        int count = 0;
        for (int i = 0; i < repaired; i++) {
            if (isTail(sequences[i]) == tails) {
                some[count++] = delaysNs[i];
            }
        }
        final long[] sorted = Arrays.copyOf(some, count);
        Arrays.sort(sorted);
        return new SimReport.RepairTail(count, at(sorted, 0.5), at(sorted, 0.99), at(sorted, 1));
    }

    private static long at(final long[] sorted, final double share) {
        return sorted.length == 0 ? 0 : sorted[(int) Math.min(sorted.length - 1, (long) (share * sorted.length))];
    }
}
