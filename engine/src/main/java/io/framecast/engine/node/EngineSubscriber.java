package io.framecast.engine.node;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameHandler;
import io.framecast.api.LossCounts;
import io.framecast.api.LossHandler;
import io.framecast.api.LossReason;
import io.framecast.api.Subscriber;
import io.framecast.api.SubscriberStats;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.agrona.concurrent.OneToOneConcurrentArrayQueue;
import org.jspecify.annotations.Nullable;

/// A subscriber: the user's side of a [Subscription].
final class EngineSubscriber implements Subscriber, SessionOwner {
    static final int POSTED_MAX = 256;

    private final Channel channel;
    private final DeviceBackend device;
    private final SessionHost host;
    private final FrameExchange exchange;
    private final LossQueue losses = new LossQueue();
    private final SourceClock clock;
    private final OneToOneConcurrentArrayQueue<DeviceRegion> posted = new OneToOneConcurrentArrayQueue<>(POSTED_MAX);
    private volatile State state = State.JOINING;
    private volatile @Nullable String failure;
    private volatile SubscriberStats stats = new SubscriberStats(0, 0, 0, 0, 0, 0, LossCounts.NONE, 0);
    // What the user took, in his own thread; the rest of the statistics is the receiver's.
    private long frames;
    private long bytes;
    private long inPlaceFrames;
    private final long[] lost = new long[LossReason.values().length];
    private LossHandler onLoss = (_, _, _) -> {};
    // A field, for it is passed with every frame.
    private final LossHandler teller = this::tell;
    // Also closed by its node, from another thread.
    private final AtomicBoolean closed = new AtomicBoolean();

    EngineSubscriber(final Channel channel, final DeviceBackend device, final SessionHost host) {
        this.channel = channel;
        this.device = device;
        this.host = host;
        clock = new SourceClock(channel.stream().delivery());
        exchange = new FrameExchange(device);
        exchange.wakeBy(host.receiverWakeup());
    }

    @Override
    public Channel channel() {
        return channel;
    }

    @Override
    public DeviceBackend device() {
        return device;
    }

    @Override
    public State state() {
        if (closed.get()) {
            return State.CLOSED;
        }
        final State current = state;
        // Every frame is handed out, or told lost, before the end is told.
        final boolean over = current == State.END_OF_STREAM || current == State.SOURCE_LOST;
        return over && hasNews() ? State.READY : current;
    }

    @Override
    public Optional<String> failure() {
        return Optional.ofNullable(failure);
    }

    @Override
    public int poll(final FrameHandler handler, final int limit) {
        int count = 0;
        while (count < limit) {
            final DeviceFrame frame = poll();
            if (frame == null) {
                break;
            }
            count++;
            handler.onFrame(frame);
        }
        return count;
    }

    @Override
    public @Nullable DeviceFrame poll() {
        if (closed.get()) {
            return null;
        }
        while (true) {
            // Before the frames: what was offered by now belongs before all that are not there yet.
            final long offered = losses.offered();
            final EngineFrame frame = exchange.poll();
            if (frame == null) {
                losses.tell(offered, Long.MAX_VALUE, teller);
                return null;
            }
            losses.tell(losses.offered(), frame.frameId(), teller);
            if (!clock.isExpiring() || !clock.isExpired(frame.sourceTimestampNs(), host.nowNs())) {
                frames++;
                bytes += frame.length();
                inPlaceFrames += frame.inPlace() ? 1 : 0;
                frame.given();
                return frame;
            }
            final long frameId = frame.frameId();
            frame.close();
            losses.onExpired();
            tell(frameId, 1, LossReason.EXPIRED);
        }
    }

    private void tell(final long firstFrameId, final long count, final LossReason reason) {
        lost[reason.ordinal()] += count;
        onLoss.onLoss(firstFrameId, count, reason);
    }

    @Override
    public void onLoss(final LossHandler handler) {
        onLoss = handler;
    }

    @Override
    public boolean awaitFrame(final Duration longest) {
        host.await(exchange.subscriber(), () -> hasNews() || isOver(), longest);
        return hasNews() && !closed.get();
    }

    // Whether there is something to poll.
    private boolean hasNews() {
        return exchange.hasDelivered() || !losses.isEmpty();
    }

    // Whether no frame will come any more.
    private boolean isOver() {
        return closed.get()
                || switch (state) {
                    case JOINING, READY -> false;
                    case END_OF_STREAM, SOURCE_LOST, FAILED, CLOSED -> true;
                };
    }

    @Override
    public boolean post(final DeviceRegion region) {
        if (device.hostAddressable() && !region.hostAddressable()) {
            throw new IllegalArgumentException("post: expected memory that the host addresses, for device "
                    + device.name() + "; allocate it from the subscriber's device");
        }
        return !closed.get() && posted.offer(region);
    }

    @Override
    public SubscriberStats stats() {
        final SubscriberStats seen = stats;
        return new SubscriberStats(
                frames,
                bytes,
                inPlaceFrames,
                seen.mendedBytes(),
                seen.repairedDatagrams(),
                seen.duplicateDatagrams(),
                lostFrames(),
                seen.rejectedDatagrams());
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            exchange.subscriber().wake();
            host.remove(this);
        }
    }

    private LossCounts lostFrames() {
        return new LossCounts(
                lost[LossReason.UNREPAIRABLE.ordinal()],
                lost[LossReason.EXPIRED.ordinal()],
                lost[LossReason.SUPERSEDED.ordinal()],
                lost[LossReason.AWAITS_KEYFRAME.ordinal()],
                lost[LossReason.DAMAGED.ordinal()]);
    }

    /// Frames polled; like the next two counted by the subscriber's thread, others may read old values.
    long frames() {
        return frames;
    }

    /// Their bytes.
    long bytes() {
        return bytes;
    }

    /// Those of them that lie where they first landed.
    long inPlaceFrames() {
        return inPlaceFrames;
    }

    LossQueue losses() {
        return losses;
    }

    SourceClock clock() {
        return clock;
    }

    FrameExchange exchange() {
        return exchange;
    }

    OneToOneConcurrentArrayQueue<DeviceRegion> posted() {
        return posted;
    }

    /// Receiver's thread, in every cycle.
    void onState(final State next) {
        if (next == state) {
            return;
        }
        if (next == State.READY && failure != null) {
            failure = null;
        }
        state = next;
        exchange.subscriber().wake();
    }

    /// A source was heard and left alone.
    void onDeclined(final String reason) {
        failure = reason;
        state = State.JOINING;
    }

    /// Receiver's thread: what was not the user's doing.
    void onStats(final SubscriberStats next) {
        stats = next;
    }

    void onEnd(final State next, final String reason) {
        failure = reason;
        state = next;
        exchange.subscriber().wake();
    }

    @Override
    public void onFailure(final String reason) {
        onEnd(State.FAILED, reason);
    }
}
