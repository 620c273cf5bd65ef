package io.framecast.engine.node;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameHandler;
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
    private final OneToOneConcurrentArrayQueue<DeviceRegion> posted = new OneToOneConcurrentArrayQueue<>(POSTED_MAX);
    private volatile State state = State.JOINING;
    private volatile @Nullable String failure;
    private volatile SubscriberStats stats = new SubscriberStats(0, 0, 0, 0, 0, 0, 0, 0);
    // What the user took, in his own thread; the rest of the statistics is the receiver's.
    private long frames;
    private long bytes;
    private long inPlaceFrames;
    // Also closed by its node, from another thread.
    private final AtomicBoolean closed = new AtomicBoolean();

    EngineSubscriber(final Channel channel, final DeviceBackend device, final SessionHost host) {
        this.channel = channel;
        this.device = device;
        this.host = host;
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
        // Every frame is handed out before the end is told.
        final boolean over = current == State.END_OF_STREAM || current == State.SOURCE_LOST;
        return over && exchange.hasDelivered() ? State.READY : current;
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
        final EngineFrame frame = closed.get() ? null : exchange.poll();
        if (frame != null) {
            frames++;
            bytes += frame.length();
            inPlaceFrames += frame.inPlace() ? 1 : 0;
        }
        return frame;
    }

    @Override
    public boolean awaitFrame(final Duration longest) {
        host.await(exchange.subscriber(), () -> exchange.hasDelivered() || isOver(), longest);
        return exchange.hasDelivered() && !closed.get();
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
                seen.droppedFrames(),
                seen.rejectedDatagrams());
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            exchange.subscriber().wake();
            host.remove(this);
        }
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
