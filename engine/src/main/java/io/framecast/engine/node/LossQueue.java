package io.framecast.engine.node;

import io.framecast.api.LossHandler;
import io.framecast.api.LossReason;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// Carries runs of lost frames from the receiver's thread to the subscriber's, beside the frames: what was
/// offered before a frame is there when the frame is.
///
/// Losses that the protocol tells of follow one another, and are gathered while nobody looks: at most
/// [#RUNS_MAX] runs wait. Where there are more, neighbours of different reasons become one run, which has the
/// newest reason; the totals stay exact.
final class LossQueue {
    static final int RUNS_MAX = 1024;

    private static final LossReason[] REASONS = LossReason.values();

    private final long[] firstIds = new long[RUNS_MAX];
    private final long[] counts = new long[RUNS_MAX];
    private final byte[] reasons = new byte[RUNS_MAX];
    private final AtomicLong offered = new AtomicLong();
    private final AtomicLong taken = new AtomicLong();
    // Receiver: what was lost, told or not.
    private final long[] totals = new long[REASONS.length];
    // Receiver: the run that is gathered.
    private long openFirstId;
    private long openCount;
    private @Nullable LossReason openReason;
    // Subscriber: told by it alone.
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

    /// Receiver: has the subscriber find what was gathered.
    ///
    /// @return false when as much waits as the queue holds
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

    /// Receiver: whether nothing is gathered that the subscriber cannot find.
    boolean isFlushed() {
        return openCount == 0;
    }

    /// Receiver: whether [#offer] may be called.
    boolean hasRoom() {
        return offered.getPlain() - taken.getAcquire() < RUNS_MAX;
    }

    /// Receiver: frames are lost that were on their way already. Only while [#hasRoom].
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

    /// Any thread: whether the subscriber has nothing to be told.
    boolean isEmpty() {
        return taken.getAcquire() == offered.getAcquire();
    }

    /// Subscriber: how many runs were offered so far.
    long offered() {
        return offered.getAcquire();
    }

    /// Subscriber: tells of runs up to the position given, in the stream's order.
    ///
    /// @param limit as [#offered] said
    /// @param beforeId only of runs that begin before this frame
    void tell(final long limit, final long beforeId, final LossHandler handler) {
        order(limit);
        long position = taken.getPlain();
        while (position < limit && firstIds[index(position)] < beforeId) {
            tellOne(position++, handler);
        }
    }

    /// Subscriber: tells of runs up to the position given that follow one another, the first from this frame
    /// on. What is behind a frame that is being taken back waits until that is told.
    void tellFrom(final long limit, final long nextId, final LossHandler handler) {
        order(limit);
        long next = nextId;
        long position = taken.getPlain();
        while (position < limit && firstIds[index(position)] == next) {
            next += counts[index(position)];
            tellOne(position++, handler);
        }
    }

    private void tellOne(final long position, final LossHandler handler) {
        final int index = index(position);
        final long firstId = firstIds[index];
        final long count = counts[index];
        final LossReason reason = REASONS[reasons[index]];
        // First, so that whatever the handler throws it was told.
        taken.setRelease(position + 1);
        handler.onLoss(firstId, count, reason);
    }

    // Frames that are taken back come before those that were given up behind them and offered long ago. Up to the limit
    // the places are the subscriber's. Mostly there is nothing to do.
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

    /// Frames lost for a reason, whoever told of them. Receiver's thread.
    long total(final LossReason reason) {
        return totals[reason.ordinal()] + (reason == LossReason.EXPIRED ? expiredWaiting.get() : 0);
    }

    private static int index(final long position) {
        return (int) position & (RUNS_MAX - 1);
    }
}
