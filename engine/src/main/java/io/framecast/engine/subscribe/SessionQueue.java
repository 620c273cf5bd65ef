package io.framecast.engine.subscribe;

import io.framecast.api.Delivery;
import io.framecast.api.LossHandler;
import io.framecast.api.LossReason;
import io.framecast.api.SourceEvent;
import io.framecast.engine.session.SessionHost;
import io.framecast.engine.session.Waiter;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// The events of one membership in one session, in order: its start, its frames and losses, its end. Filled by the
/// receiver's thread, read by the subscriber's.
final class SessionQueue {
    /// Takes events other than frames, on the subscriber's thread.
    interface Listener {
        void onLoss(long session, long firstFrameId, long count, LossReason reason);

        void onSource(SourceEvent event);
    }

    private final long session;
    private final DeliveredFrames frames;
    private final LossQueue losses = new LossQueue();
    private final SourceClock clock;
    private final Listener listener;
    // A field, because every poll passes it on.
    private final LossHandler onLoss = this::reportLoss;
    // This queue waits until the subscriber has taken everything from that one. Set before the subscriber sees this
    // queue; cleared by the subscriber.
    private @Nullable SessionQueue before;
    private @Nullable SourceEvent joined;
    // Subscriber: the id behind the last frame delivered or reported lost.
    private long nextId;
    private volatile @Nullable SourceEvent over;
    private volatile boolean joinedReported;
    private volatile boolean finished;
    // A frame that was polled before a handler threw on the losses in front of it; the next poll returns it.
    private final AtomicReference<@Nullable EngineFrame> detained = new AtomicReference<>();

    /// @param listener takes events other than frames
    /// @param subscriber sleeps until the queue has an event
    SessionQueue(
            final long session,
            final ConsumerStream consumer,
            final Delivery delivery,
            final Listener listener,
            final Waiter subscriber) {
        this.session = session;
        this.listener = listener;
        frames = new DeliveredFrames(session, consumer, subscriber);
        clock = new SourceClock(delivery);
    }

    long session() {
        return session;
    }

    DeliveredFrames frames() {
        return frames;
    }

    LossQueue losses() {
        return losses;
    }

    SourceClock clock() {
        return clock;
    }

    /// Receiver, before the subscriber sees this queue.
    ///
    /// @param firstReportedId the first frame that is delivered or reported lost
    /// @param earlier the queue that comes before; null for none
    void begin(final SourceEvent event, final long firstReportedId, final @Nullable SessionQueue earlier) {
        joined = event;
        nextId = firstReportedId;
        before = earlier;
    }

    /// Receiver: the membership ended, and all its frames were delivered.
    void end(final SourceEvent event) {
        over = event;
    }

    /// Receiver: whether the membership ended, and the subscriber took everything or does not need the rest.
    ///
    /// @param listened whether the user listens for the end of sessions
    boolean isQuiet(final boolean listened) {
        return finished || (over != null && !listened && !frames.hasDelivered() && losses.isEmpty());
    }

    /// Receiver: the subscriber no longer polls this queue.
    void retire() {
        finished = true;
    }

    /// Subscriber: whether a poll would find something.
    ///
    /// @param listened whether the user listens for the start and the end of sessions
    boolean hasNews(final boolean listened) {
        return frames.hasDelivered()
                || detained.get() != null
                || !losses.isEmpty()
                || (listened && (!joinedReported || (over != null && !finished)));
    }

    /// Subscriber: the next frame, or null. Reports the events before the frame to the handlers. An exception of a
    /// handler propagates; its event counts as reported, and the next poll returns the frame.
    ///
    /// @param host gives the engine's time
    @Nullable
    EngineFrame poll(final SessionHost host) {
        if (isBlocked()) {
            return null;
        }
        if (!joinedReported && joined != null) {
            joinedReported = true;
            listener.onSource(joined);
        }
        while (true) {
            // The end is read before the losses, and the losses before the frame. Without a frame, the end and the
            // losses read here then precede every later frame.
            final SourceEvent end = over;
            final long offered = losses.offered();
            final EngineFrame frame = take();
            if (frame == null) {
                if (end == null) {
                    losses.tellFrom(offered, nextId, onLoss);
                } else {
                    losses.tell(offered, Long.MAX_VALUE, onLoss);
                }
                reportEnd(end);
                return null;
            }
            reportBefore(frame);
            if (!clock.isExpiring() || !clock.isExpired(frame.sourceTimestampNs(), host.nowNs())) {
                frame.given();
                nextId = frame.frameId() + 1;
                return frame;
            }
            final long frameId = frame.frameId();
            frame.close();
            losses.onExpired();
            reportLoss(frameId, 1, LossReason.EXPIRED);
        }
    }

    private @Nullable EngineFrame take() {
        final EngineFrame first = detained.get() == null ? null : detained.getAndSet(null);
        return first == null ? frames.poll() : first;
    }

    private void reportBefore(final EngineFrame frame) {
        try {
            losses.tell(losses.offered(), frame.frameId(), onLoss);
        } catch (final RuntimeException | Error e) {
            detained.set(frame);
            throw e;
        }
    }

    /// The closing thread: returns a frame that the subscriber will no longer poll.
    void giveUp() {
        final EngineFrame frame = detained.getAndSet(null);
        if (frame != null) {
            frame.close();
        }
    }

    private boolean isBlocked() {
        final SessionQueue earlier = before;
        if (earlier == null) {
            return false;
        }
        if (!earlier.finished) {
            return true;
        }
        before = null;
        return false;
    }

    private void reportEnd(final @Nullable SourceEvent end) {
        if (end != null && !finished) {
            finished = true;
            listener.onSource(end);
        }
    }

    private void reportLoss(final long firstFrameId, final long count, final LossReason reason) {
        nextId = firstFrameId + count;
        listener.onLoss(session, firstFrameId, count, reason);
    }
}
