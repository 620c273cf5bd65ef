package io.framecast.engine.node;

import io.framecast.api.Delivery;
import io.framecast.api.LossHandler;
import io.framecast.api.LossReason;
import io.framecast.api.SourceEvent;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// What one membership in one session hands to its subscriber, in order: that it began, frames and losses,
/// that it is over. Filled by the receiver's thread, read by the subscriber's.
final class SessionQueue {
    /// Takes what is not a frame; the subscriber's thread.
    interface Listener {
        void onLoss(long session, long firstFrameId, long count, LossReason reason);

        void onSource(SourceEvent event);
    }

    private final long session;
    private final DeliveredFrames frames;
    private final LossQueue losses = new LossQueue();
    private final SourceClock clock;
    private final Listener listener;
    // A field, for it is passed with every frame.
    private final LossHandler teller = this::tell;
    // Must be handed out whole before this one begins. Set before others see this; cleared by the subscriber.
    private @Nullable SessionQueue before;
    private @Nullable SourceEvent joined;
    // Subscriber: behind all that was given or told.
    private long nextId;
    private volatile @Nullable SourceEvent over;
    private volatile boolean joinedTold;
    private volatile boolean finished;
    // Taken for the subscriber, whose handler threw when it was told what comes before it.
    private final AtomicReference<@Nullable EngineFrame> detained = new AtomicReference<>();

    /// @param listener what is not a frame goes there
    /// @param subscriber sleeps until there is something
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

    /// Receiver, before the subscriber sees this.
    ///
    /// @param firstReportedId the first frame that is given or reported lost
    /// @param earlier is handed out before; null for none
    void begin(final SourceEvent event, final long firstReportedId, final @Nullable SessionQueue earlier) {
        joined = event;
        nextId = firstReportedId;
        before = earlier;
    }

    /// Receiver: nothing follows. All there was has been delivered.
    void end(final SourceEvent event) {
        over = event;
    }

    /// Receiver: whether it is over, and the subscriber took all, or need not be told the rest.
    ///
    /// @param listened whether somebody wants to know of the end
    boolean isQuiet(final boolean listened) {
        return finished || (over != null && !listened && !frames.hasDelivered() && losses.isEmpty());
    }

    /// Receiver: nobody looks here any more.
    void retire() {
        finished = true;
    }

    /// Subscriber: whether there is something to poll.
    ///
    /// @param listened whether somebody wants to know that it began or is over
    boolean hasNews(final boolean listened) {
        return frames.hasDelivered()
                || detained.get() != null
                || !losses.isEmpty()
                || (listened && (!joinedTold || (over != null && !finished)));
    }

    /// Subscriber: the next frame, or null; tells what comes before it. What a handler throws is thrown; all
    /// that it was told counts as told, and the frame behind that comes next time.
    ///
    /// @param host its time
    @Nullable
    EngineFrame poll(final SessionHost host) {
        if (isBlocked()) {
            return null;
        }
        if (!joinedTold && joined != null) {
            joinedTold = true;
            listener.onSource(joined);
        }
        while (true) {
            // Before the losses, and those before the frames: what is there by now belongs before all that is not.
            final SourceEvent end = over;
            final long offered = losses.offered();
            final EngineFrame frame = take();
            if (frame == null) {
                if (end == null) {
                    losses.tellFrom(offered, nextId, teller);
                } else {
                    losses.tell(offered, Long.MAX_VALUE, teller);
                }
                tellEnd(end);
                return null;
            }
            tellBefore(frame);
            if (!clock.isExpiring() || !clock.isExpired(frame.sourceTimestampNs(), host.nowNs())) {
                frame.given();
                nextId = frame.frameId() + 1;
                return frame;
            }
            final long frameId = frame.frameId();
            frame.close();
            losses.onExpired();
            tell(frameId, 1, LossReason.EXPIRED);
        }
    }

    private @Nullable EngineFrame take() {
        final EngineFrame first = detained.get() == null ? null : detained.getAndSet(null);
        return first == null ? frames.poll() : first;
    }

    private void tellBefore(final EngineFrame frame) {
        try {
            losses.tell(losses.offered(), frame.frameId(), teller);
        } catch (final RuntimeException | Error e) {
            detained.set(frame);
            throw e;
        }
    }

    /// Whoever closes the subscriber: gives back what nobody will poll any more.
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

    private void tellEnd(final @Nullable SourceEvent end) {
        if (end != null && !finished) {
            finished = true;
            listener.onSource(end);
        }
    }

    private void tell(final long firstFrameId, final long count, final LossReason reason) {
        nextId = firstFrameId + count;
        listener.onLoss(session, firstFrameId, count, reason);
    }
}
