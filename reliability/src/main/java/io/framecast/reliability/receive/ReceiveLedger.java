package io.framecast.reliability.receive;

import io.framecast.reliability.window.ReceiveWindow;
import io.framecast.reliability.wire.AckValues;
import org.jspecify.annotations.Nullable;

/// A receiver's values for its source: the sequence below which everything is here, and the grant.
///
/// Pure state; one thread.
final class ReceiveLedger {
    private final ReceiverConfig config;
    private final ReceiveWindow window;
    private final FrameQueue queue;
    private final StreamEnd streamEnd;
    private long highestData = -1;
    private long startSequence;
    private long creditLimit;
    private long granted;
    private boolean over;
    private @Nullable CheckpointLog log;
    private final Checkpoint checkpoint = new Checkpoint();
    // Of a receiver with a log: the promise that its source knows.
    private final AckValues reported = new AckValues();

    ReceiveLedger(final ReceiverConfig config, final FrameQueue queue, final StreamEnd streamEnd) {
        this.config = config;
        this.queue = queue;
        window = queue.window();
        this.streamEnd = streamEnd;
    }

    ReceiverConfig config() {
        return config;
    }

    /// The datagrams that this receiver has.
    ReceiveWindow window() {
        return window;
    }

    /// The receiver is a member from this sequence on.
    void start(final long sequence) {
        startSequence = sequence;
        highestData = sequence - 1;
        creditLimit = sequence + config.ringSlots();
        granted = sequence + config.firstGrantSlots();
    }

    /// It is a member, and has handed out nothing: a successor begins there.
    void keepStart() {
        reported.progress(startSequence, granted, startSequence);
        keep(startSequence, granted, false);
    }

    /// The receiver goes on where another one stopped.
    void resume(final Checkpoint from) {
        start(from.firstSequence);
        highestData = Math.max(highestData, from.acknowledged - 1);
        granted = Math.max(granted, from.granted);
    }

    /// From now on a successor could go on from this receiver's promise: it acknowledges nothing behind the
    /// frame that is to be handed out next.
    void log(final CheckpointLog taker) {
        log = taker;
    }

    boolean isLogged() {
        return log != null;
    }

    /// Before the source hears of a new holder.
    ///
    /// @return false where another one goes on
    boolean adopt(final Checkpoint from) {
        final CheckpointLog taker = log;
        if (taker == null) {
            return true;
        }
        checkpoint.copy(from);
        checkpoint.secret = config.secret();
        taker.onCheckpoint(checkpoint);
        reported.progress(from.acknowledged, from.granted, from.acknowledged);
        return !taker.isSucceeded();
    }

    // Before the source hears of it. Where a successor goes on, the values become the reported ones.
    private void promise(final AckValues values) {
        if (keep(values.acknowledged(), values.grant(), values.isComplete())) {
            reported.progress(values.acknowledged(), values.grant(), values.highest())
                    .complete(values.isComplete());
        } else {
            values.progress(
                            reported.acknowledged(),
                            reported.grant(),
                            Math.max(reported.acknowledged(), values.highest()))
                    .complete(reported.isComplete());
        }
    }

    private boolean keep(final long acknowledged, final long grant, final boolean complete) {
        final CheckpointLog taker = log;
        if (taker == null) {
            return true;
        }
        queue.describe(checkpoint);
        checkpoint.secret = config.secret();
        checkpoint.acknowledged = acknowledged;
        // Another path may have carried more than the source is known to have.
        checkpoint.granted = Math.max(granted, grant);
        checkpoint.complete = complete;
        taker.onCheckpoint(checkpoint);
        return !taker.isSucceeded();
    }

    private long acknowledgeable() {
        return log == null ? queue.acknowledgeable() : Math.min(queue.acknowledgeable(), queue.endOfNext());
    }

    long startSequence() {
        return startSequence;
    }

    /// The highest sequence that came by the data lane.
    long highestData() {
        return highestData;
    }

    void onData(final long sequence) {
        highestData = Math.max(highestData, sequence);
    }

    /// 1 + the highest sequence that is here.
    long highest() {
        return Math.max(highestData + 1, window.next());
    }

    /// Sequences below have a slot.
    long creditLimit() {
        return creditLimit;
    }

    /// @return whether that is more than before
    boolean onCredit(final long limit) {
        if (limit <= creditLimit) {
            return false;
        }
        creditLimit = limit;
        return true;
    }

    /// The largest possible grant. It never shrinks, and is never less than the acknowledgement: a source that
    /// does not wait may be far past the slots of a receiver whose user holds its whole ring.
    long grant() {
        final long capacityLimit = highest() + config.receiveCapacity();
        // Frames not yet polled keep their place in the tables, which are as long as the window.
        final long tableLimit = queue.first() + window.capacity();
        final long room = Math.min(tableLimit, Math.min(creditLimit, capacityLimit));
        return Math.max(granted, Math.max(acknowledgeable(), room));
    }

    /// The largest grant sent.
    long granted() {
        return granted;
    }

    /// 1 + the highest sequence of which anything is known.
    long end() {
        return window.end();
    }

    /// Every frame up to the last was polled.
    void finish() {
        over = true;
    }

    /// Every datagram and all metadata are here, and the last frame is whole; with a log, it was handed out.
    boolean isComplete() {
        final long end = log == null ? queue.described() : queue.first();
        return over || (streamEnd.isAt(end) && window.next() >= end);
    }

    /// Fills in all values, and grants as much as possible.
    void advertise(final AckValues values) {
        granted = grant();
        describe(values);
        promise(values);
    }

    /// Another path is to carry this grant: a successor must know that the source may.
    ///
    /// @return false where a successor goes on
    boolean promiseApart(final long grant) {
        return keep(acknowledgeable(), grant, isComplete());
    }

    /// Another path carried this grant.
    void grantedApart(final long grant) {
        granted = Math.max(granted, grant);
    }

    /// Fills in all values, and grants nothing new.
    ///
    /// @param grant that the source knows
    void advertiseApart(final AckValues values, final long grant) {
        final long acknowledged = acknowledgeable();
        values.progress(acknowledged, Math.max(acknowledged, grant), highest()).complete(isComplete());
        promise(values);
    }

    /// Fills in the values as they are now.
    void describe(final AckValues values) {
        values.progress(acknowledgeable(), grant(), highest()).complete(isComplete());
    }
}
