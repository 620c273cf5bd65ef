package io.framecast.reliability.send;

import io.framecast.reliability.send.CoRootConfig.Feed;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.RcConnectLayout;
import io.framecast.reliability.wire.Verdict;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Predicate;

/// The path of data to co-roots with [Feed#UNICAST] (Subramoni: "reliable point to point transfer to
/// co-roots"), and to those that serve only so. A co-root that announced its replica gets the window written
/// there over its RC connection, in order and without a gap from that time on.
///
/// Slots that are to be written, or are being written, must not be reused: the machine guards the former, its
/// caller the latter.
///
/// One thread.
final class Replication {
    private final boolean all;
    private final List<ServedGroup> sets;
    private final SenderOutput output;
    private final Counts<SenderCount> counts;

    private final Predicate<ServedGroup> settled;
    private final Predicate<ServedGroup> fedOnly;

    /// @param sets the source's groups, as they are at any time
    /// @param settled whether a co-root has confirmed every removal from its list: until then it may
    ///     serve a former member, for which nothing was kept
    /// @param fedOnly whether a co-root keeps nothing by itself
    Replication(
            final Feed feed,
            final List<ServedGroup> sets,
            final Predicate<ServedGroup> settled,
            final Predicate<ServedGroup> fedOnly,
            final SenderOutput output,
            final Counts<SenderCount> counts) {
        all = feed == Feed.UNICAST;
        this.sets = sets;
        this.settled = settled;
        this.fedOnly = fedOnly;
        this.output = output;
        this.counts = counts;
    }

    /// A co-root announces its replica, and repeats that until its word shows the answer.
    ///
    /// @param set the group that it leads; announcements for an earlier group count for nothing
    /// @param next first sequence of the replication, unless that has begun
    Verdict onCopy(final ServedGroup set, final MemorySegment datagram, final long offset, final long next) {
        if (!RcConnectLayout.isValidCopy(datagram, offset)) {
            return Verdict.IMPOSSIBLE;
        }
        if (ControlLayout.EPOCH.get(datagram, offset) < set.ledEpoch()) {
            return Verdict.STALE_EPOCH;
        }
        if (all || fedOnly.test(set)) {
            final int epoch = RcConnectLayout.EPOCH.get(datagram, offset);
            // The source kept the sequences that are still to be written.
            final long first = set.isFed() ? set.fedEnd() : next;
            if (output.openFeed(set.coRoot(), RcConnectLayout.offer(datagram, offset), epoch, first)) {
                set.feed(epoch, first);
            }
        }
        return Verdict.GOOD;
    }

    /// The source has multicast all below this sequence, and there may be room for what is still to be written.
    void push(final long next) {
        for (int i = 0; i < sets.size(); i++) {
            if (sets.get(i).isFed()) {
                push(sets.get(i), next);
            }
        }
    }

    /// Whether the next datagrams must be sealed before they are sent: the replication writes their guards as
    /// well.
    boolean isAny() {
        for (int i = 0; i < sets.size(); i++) {
            if (sets.get(i).isFed()) {
                return true;
            }
        }
        return false;
    }

    /// Sequences from here on are still to be written.
    long written() {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < sets.size(); i++) {
            least = sets.get(i).isFed() ? Math.min(least, sets.get(i).fedEnd()) : least;
        }
        return least;
    }

    private void push(final ServedGroup set, final long next) {
        int taken = settled.test(set) ? 1 : 0;
        while (set.fedEnd() < next && taken > 0) {
            taken = output.feed(set.coRoot(), set.fedEnd(), (int) (next - set.fedEnd()));
            if (taken == SenderOutput.NO_FEED) {
                counts.add(SenderCount.FEED_FAILURES);
                set.starve();
                return;
            }
            set.feed(set.feedEpoch(), set.fedEnd() + taken);
            counts.add(SenderCount.WRITTEN_DATAGRAMS, taken);
        }
    }
}
