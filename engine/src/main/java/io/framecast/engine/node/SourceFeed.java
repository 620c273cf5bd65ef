package io.framecast.engine.node;

import io.framecast.api.Delivery;
import io.framecast.api.LossHandler;
import io.framecast.api.LossReason;
import io.framecast.api.SourceEvent;
import io.framecast.api.spi.DeviceBackend;
import org.jspecify.annotations.Nullable;

/// What one membership in one session hands to its subscriber, in order: that it began, frames and losses,
/// that it is over. Filled by the receiver's thread, read by the subscriber's.
final class SourceFeed {
    /// Takes what is not a frame; the subscriber's thread.
    interface Listener {
        void onLoss(long session, long firstFrameId, long count, LossReason reason);

        void onSource(SourceEvent event);
    }

    private final long session;
    private final FrameExchange exchange;
    private final LossQueue losses = new LossQueue();
    private final SourceClock clock;
    private final Listener listener;
    // A field, for it is passed with every frame.
    private final LossHandler teller = this::tell;
    // Must be handed out whole before this one begins. Set before others see this; cleared by the subscriber.
    private @Nullable SourceFeed before;
    private @Nullable SourceEvent joined;
    private volatile @Nullable SourceEvent over;
    private volatile boolean joinedTold;
    private volatile boolean finished;

    /// @param listener what is not a frame goes there
    /// @param subscriber sleeps until there is something
    SourceFeed(
            final long session,
            final DeviceBackend device,
            final Delivery delivery,
            final Listener listener,
            final Sleeper subscriber) {
        this.session = session;
        this.listener = listener;
        exchange = new FrameExchange(session, device, subscriber);
        clock = new SourceClock(delivery);
    }

    long session() {
        return session;
    }

    FrameExchange exchange() {
        return exchange;
    }

    LossQueue losses() {
        return losses;
    }

    SourceClock clock() {
        return clock;
    }

    /// Receiver, before the subscriber sees this.
    ///
    /// @param earlier is handed out before; null for none
    void begin(final SourceEvent event, final @Nullable SourceFeed earlier) {
        joined = event;
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
        return finished || (over != null && !listened && !exchange.hasDelivered() && losses.isEmpty());
    }

    /// Receiver: nobody looks here any more.
    void retire() {
        finished = true;
    }

    /// Subscriber: whether there is something to poll.
    ///
    /// @param listened whether somebody wants to know that it began or is over
    boolean hasNews(final boolean listened) {
        return exchange.hasDelivered()
                || !losses.isEmpty()
                || (listened && (!joinedTold || (over != null && !finished)));
    }

    /// Subscriber: the next frame, or null; tells what comes before it.
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
            final EngineFrame frame = exchange.poll();
            if (frame == null) {
                losses.tell(offered, Long.MAX_VALUE, teller);
                tellEnd(end);
                return null;
            }
            losses.tell(losses.offered(), frame.frameId(), teller);
            if (!clock.isExpiring() || !clock.isExpired(frame.sourceTimestampNs(), host.nowNs())) {
                frame.given();
                return frame;
            }
            final long frameId = frame.frameId();
            frame.close();
            losses.onExpired();
            tell(frameId, 1, LossReason.EXPIRED);
        }
    }

    private boolean isBlocked() {
        final SourceFeed earlier = before;
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
            listener.onSource(end);
            finished = true;
        }
    }

    private void tell(final long firstFrameId, final long count, final LossReason reason) {
        listener.onLoss(session, firstFrameId, count, reason);
    }
}
