package io.framecast.reliability;

import io.framecast.reliability.CoRootConfig.Feed;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.LinkLayout;
import io.framecast.reliability.wire.Verdict;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Predicate;

/// How co-roots get what they keep with [Feed#UNICAST] (seed 004: "reliable point to point transfer to
/// co-roots"): one that told where its copy of the window begins has it written there over its link, one after
/// the other and without a gap from when that began; all others get each new datagram by unicast as well.
///
/// Nobody may use slots again that are to be written, or are being written: the machine keeps the first, its caller
/// the second.
///
/// One thread.
final class Replication {
    private final boolean wanted;
    private final List<CoRootSet> sets;
    private final SenderOutput output;
    private final SenderCounts counts;

    private final Predicate<CoRootSet> settled;

    /// @param sets the source's, as they are at any time
    /// @param settled whether a co-root has confirmed all who were taken off its list: while it has not, it may
    ///     serve one who is gone, and for whom nothing was kept
    Replication(
            final Feed feed,
            final List<CoRootSet> sets,
            final Predicate<CoRootSet> settled,
            final SenderOutput output,
            final SenderCounts counts) {
        wanted = feed == Feed.UNICAST;
        this.sets = sets;
        this.settled = settled;
        this.output = output;
        this.counts = counts;
    }

    /// A co-root tells where its copy is, and again until its word shows that this was heard.
    ///
    /// @param set the one it leads; what it says of an earlier one counts for nothing
    /// @param next sequence from which on it is fed, if it was not already
    Verdict onCopy(final CoRootSet set, final MemorySegment datagram, final long offset, final long next) {
        if (!LinkLayout.isValidCopy(datagram, offset)) {
            return Verdict.IMPOSSIBLE;
        }
        if (ControlLayout.epoch(datagram, offset) < set.ledEpoch()) {
            return Verdict.STALE_EPOCH;
        }
        if (wanted) {
            final int epoch = LinkLayout.epoch(datagram, offset);
            // What is to be written yet was kept for it.
            final long first = set.isFed() ? set.fedEnd() : next;
            if (output.openFeed(set.coRoot(), LinkLayout.offer(datagram, offset), epoch, first)) {
                set.feed(epoch, first);
            }
        }
        return Verdict.GOOD;
    }

    /// Datagrams were multicast for the first time.
    void onSent(final long firstSequence, final int count) {
        if (!wanted) {
            return;
        }
        for (int i = 0; i < sets.size(); i++) {
            final CoRootSet set = sets.get(i);
            if (!set.isFed() || !push(set, firstSequence + count)) {
                counts.fedDatagrams += output.repair(set.coRoot(), firstSequence, count);
            }
        }
    }

    /// There may be room for what could not be written yet.
    void push(final long next) {
        for (int i = 0; i < sets.size(); i++) {
            if (sets.get(i).isFed()) {
                push(sets.get(i), next);
            }
        }
    }

    /// Whether what is sent next must be sealed before: what vouches for it is written with it.
    boolean isAny() {
        for (int i = 0; i < sets.size(); i++) {
            if (sets.get(i).isFed()) {
                return true;
            }
        }
        return false;
    }

    /// Slots from here on are to be written yet.
    long written() {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < sets.size(); i++) {
            least = sets.get(i).isFed() ? Math.min(least, sets.get(i).fedEnd()) : least;
        }
        return least;
    }

    // False when there is no writing to it any more.
    private boolean push(final CoRootSet set, final long next) {
        int taken = settled.test(set) ? 1 : 0;
        while (set.fedEnd() < next && taken > 0) {
            taken = output.feed(set.coRoot(), set.fedEnd(), (int) (next - set.fedEnd()));
            if (taken == SenderOutput.NO_FEED) {
                counts.feedFailures++;
                set.starve();
                return false;
            }
            set.feed(set.feedEpoch(), set.fedEnd() + taken);
            counts.writtenDatagrams += taken;
        }
        return true;
    }
}
