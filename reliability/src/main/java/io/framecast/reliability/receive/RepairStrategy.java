package io.framecast.reliability.receive;

import io.framecast.reliability.repair.NackScheduler;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.NackLayout;
import org.jspecify.annotations.Nullable;

/// How a receiver gets missing datagrams. It takes the first of these paths that is open:
///
/// 1. a co-root copies the datagram from its own replica of the window;
/// 2. a member reads its co-root's replica by RDMA, once for each datagram;
/// 3. a receiver without a co-root, or whose co-root has no endpoint, reads its source's window by RDMA;
/// 4. a NACK asks the co-root;
/// 5. a NACK asks the source: a receiver without a co-root at once, a member once its co-root's repairs did not
///    come.
///
/// The paths 1 to 3 end with attempt [NackScheduler#ESCALATE_AFTER], so that nothing depends on them. Datagrams that
/// find no room to be read now are tried again soon.
///
/// One thread.
final class RepairStrategy implements NackScheduler.Output {
    private static final long NO_ROOM_RETRY_NS = 50_000;

    private final ReceiverOutput output;
    private final Reporting reporting;
    private final ControlWriter ids;
    private final Counts<ReceiverCount> counts;
    private @Nullable NackScheduler scheduler;
    private long nowNs;

    // The NACK that is being written.
    private int ranges;
    private long rangeFirst;
    private int rangeCount;
    private boolean toSource;
    private boolean acknowledges;

    RepairStrategy(
            final ReceiverOutput output,
            final Reporting reporting,
            final ControlWriter ids,
            final Counts<ReceiverCount> counts) {
        this.output = output;
        this.reporting = reporting;
        this.ids = ids;
        this.counts = counts;
    }

    /// Gets, or asks for, everything that is due.
    ///
    /// @return work done
    int onTick(final NackScheduler missing, final long highestData, final long now) {
        nowNs = now;
        scheduler = missing;
        final int reported = missing.onTick(now, highestData, this);
        flush();
        return reported;
    }

    @Override
    public void nack(final long firstSequence, final int count, final int attempts) {
        final boolean last = attempts >= NackScheduler.ESCALATE_AFTER;
        final int own = last ? 0 : copyOwn(firstSequence, count);
        final long first = firstSequence + own;
        final int left = count - own;
        if (left > 0 && !read(first, left, attempts)) {
            ask(first, left, last || !reporting.isAssigned());
        }
    }

    // How many, from the first on, the replica holds: none of these is read or asked for.
    private int copyOwn(final long firstSequence, final int count) {
        final int held = reporting.heldInReplica(firstSequence, count);
        final int copied = held == 0 ? RemoteMemory.NOT_READ : reporting.copyOwn(firstSequence, held);
        if (copied == RemoteMemory.NOT_READ) {
            return 0;
        }
        counts.add(ReceiverCount.OWN_REPAIRS, copied);
        retrySoon(firstSequence + copied, held - copied);
        return held;
    }

    // Whether the datagrams are being read, or will be soon.
    private boolean read(final long firstSequence, final int count, final int attempts) {
        final int taken = beginRead(firstSequence, count, attempts);
        if (taken == RemoteMemory.NOT_READ) {
            return false;
        }
        counts.add(ReceiverCount.PULL_REQUESTS, taken);
        retrySoon(firstSequence + taken, count - taken);
        return true;
    }

    private int beginRead(final long firstSequence, final int count, final int attempts) {
        if (reporting.isAssigned() && reporting.coRootConnection().isUp()) {
            // Once: a co-root that lacks a datagram can say so only by sending it later.
            return attempts == 0 ? output.remote().readFromCoRoot(firstSequence, count) : RemoteMemory.NOT_READ;
        }
        if (!reporting.link().mayRead(nowNs)) {
            return RemoteMemory.NOT_READ;
        }
        if (attempts >= NackScheduler.ESCALATE_AFTER) {
            counts.add(ReceiverCount.OVERDUE_PULLS, count);
            return RemoteMemory.NOT_READ;
        }
        return output.remote().readFromSource(firstSequence, count);
    }

    private void retrySoon(final long firstSequence, final int count) {
        final NackScheduler current = scheduler;
        if (count > 0 && current != null) {
            current.retryNow(firstSequence, count, nowNs + NO_ROOM_RETRY_NS);
        }
    }

    // Asks the source or the co-root for datagrams, at the latest with the next flush.
    private void ask(final long firstSequence, final int count, final boolean source) {
        if (source != toSource) {
            flush();
        }
        if (ranges == 0) {
            toSource = source;
            acknowledges = reporting.isRiding(source);
        }
        counts.add(ReceiverCount.NACKED_DATAGRAMS, count);
        if (ranges > 0 && firstSequence == rangeFirst + rangeCount) {
            rangeCount += count;
            NackLayout.range(output.control(), acknowledges, ranges - 1, rangeFirst, rangeCount);
            return;
        }
        rangeFirst = firstSequence;
        rangeCount = count;
        NackLayout.range(output.control(), acknowledges, ranges++, firstSequence, count);
        if (ranges == NackLayout.rangesMax(acknowledges)) {
            flush();
        }
    }

    // An acknowledgement that is due soon to the same receiver of the NACK goes along.
    private void flush() {
        if (ranges == 0) {
            return;
        }
        ids.in(output.control());
        final int bytes =
                acknowledges ? NackLayout.write(ids, ranges, reporting.ride(nowNs)) : NackLayout.write(ids, ranges);
        reporting.send(bytes, toSource);
        counts.add(ReceiverCount.NACKS);
        ranges = 0;
    }
}
