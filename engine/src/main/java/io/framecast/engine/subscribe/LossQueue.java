package io.framecast.engine.subscribe;

import io.framecast.api.LossHandler;
import io.framecast.api.LossReason;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// Carries runs of lost frames from the receiver's thread to the subscriber's, beside the frames. A loss that was
/// offered before a frame is visible when the frame is.
///
/// Losses reported by the protocol are consecutive, and the receiver gathers them between two polls: at most
/// [#RUNS_MAX] runs wait. Beyond that, neighbours of different reasons become one run with the newest reason; the
/// totals stay exact.
final class LossQueue {
    static final int RUNS_MAX = 1024;

    private static final LossReason[] REASONS = LossReason.values();

    private final long[] firstIds = new long[RUNS_MAX];
    private final long[] counts = new long[RUNS_MAX];
    private final byte[] reasons = new byte[RUNS_MAX];
    private final AtomicLong offered = new AtomicLong();
    private final AtomicLong taken = new AtomicLong();
    // Receiver: all lost frames, reported or not.
    private final long[] totals = new long[REASONS.length];
    // Receiver: the run that is being gathered.
    private long openFirstId;
    private long openCount;
    private @Nullable LossReason openReason;
    // Subscriber: reported by the subscriber's thread alone.
    private final AtomicLong expiredWaiting = new AtomicLong();

    /// Receiver: the next frames of the stream are lost.
    void add(final long firstId, final long count, final LossReason reason) {
        if (count <= 0) {
            return;
        }
        totals[reason.ordinal()] += count;
        if (reason != openReason) {
            flush();
        }
        openFirstId = openCount == 0 ? firstId : openFirstId;
        openCount += count;
        openReason = reason;
    }

    /// Receiver: makes the gathered run visible to the subscriber.
    ///
    /// @return false when the queue is full
    boolean flush() {
        final LossReason reason = openReason;
        if (openCount == 0 || reason == null) {
            return true;
        }
        if (!hasRoom()) {
            return false;
        }
        put(openFirstId, openCount, reason);
        openCount = 0;
        return true;
    }

    /// Receiver: whether every gathered run is visible to the subscriber.
    boolean isFlushed() {
        return openCount == 0;
    }

    /// Receiver: whether [#offer] may be called.
    boolean hasRoom() {
        return offered.getPlain() - taken.getAcquire() < RUNS_MAX;
    }

    /// Receiver: frames are lost that were already delivered to the queue. Only while [#hasRoom].
    void offer(final long firstId, final long count, final LossReason reason) {
        totals[reason.ordinal()] += count;
        put(firstId, count, reason);
    }

    private void put(final long firstId, final long count, final LossReason reason) {
        final long position = offered.getPlain();
        final int index = index(position);
        firstIds[index] = firstId;
        counts[index] = count;
        reasons[index] = (byte) reason.ordinal();
        offered.setRelease(position + 1);
    }

    /// Any thread: whether the subscriber has no loss to report.
    boolean isEmpty() {
        return taken.getAcquire() == offered.getAcquire();
    }

    /// Subscriber: how many runs were offered so far.
    long offered() {
        return offered.getAcquire();
    }

    /// Subscriber: reports runs up to the position given, in the order of the stream.
    ///
    /// @param limit from [#offered]
    /// @param beforeId reports only runs that begin before this frame
    void tell(final long limit, final long beforeId, final LossHandler handler) {
        order(limit);
        long position = taken.getPlain();
        while (position < limit && firstIds[index(position)] < beforeId) {
            reportOne(position++, handler);
        }
    }

    /// Subscriber: reports consecutive runs up to the position given, the first of which begins at this frame. Runs
    /// behind a frame that is being taken back wait until that frame is reported.
    void tellFrom(final long limit, final long nextId, final LossHandler handler) {
        order(limit);
        long next = nextId;
        long position = taken.getPlain();
        while (position < limit && firstIds[index(position)] == next) {
            next += counts[index(position)];
            reportOne(position++, handler);
        }
    }

    private void reportOne(final long position, final LossHandler handler) {
        final int index = index(position);
        final long firstId = firstIds[index];
        final long count = counts[index];
        final LossReason reason = REASONS[reasons[index]];
        // First, so that a run counts as reported even if the handler throws.
        taken.setRelease(position + 1);
        handler.onLoss(firstId, count, reason);
    }

    // Frames that are taken back come before frames that were dropped behind them and offered long ago. Places up
    // to the limit belong to the subscriber. Mostly the runs are already in order.
    private void order(final long limit) {
        for (long sorted = taken.getPlain() + 1; sorted < limit; sorted++) {
            for (long at = sorted; at > taken.getPlain() && firstIds[index(at - 1)] > firstIds[index(at)]; at--) {
                swap(index(at - 1), index(at));
            }
        }
    }

    private void swap(final int one, final int other) {
        final long firstId = firstIds[one];
        final long count = counts[one];
        final byte reason = reasons[one];
        firstIds[one] = firstIds[other];
        counts[one] = counts[other];
        reasons[one] = reasons[other];
        firstIds[other] = firstId;
        counts[other] = count;
        reasons[other] = reason;
    }

    /// Subscriber: a frame expired while it waited.
    void onExpired() {
        expiredWaiting.lazySet(expiredWaiting.getPlain() + 1);
    }

    /// Frames lost for a reason, whichever thread reports them. Receiver's thread.
    long total(final LossReason reason) {
        return totals[reason.ordinal()] + (reason == LossReason.EXPIRED ? expiredWaiting.get() : 0);
    }

    private static int index(final long position) {
        return (int) position & (RUNS_MAX - 1);
    }
}
