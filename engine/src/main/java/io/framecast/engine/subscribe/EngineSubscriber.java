package io.framecast.engine.subscribe;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameHandler;
import io.framecast.api.LossHandler;
import io.framecast.api.LossReason;
import io.framecast.api.PlacementReport;
import io.framecast.api.SourceEvent;
import io.framecast.api.SourceHandler;
import io.framecast.api.Subscriber;
import io.framecast.api.SubscriberStats;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.engine.codec.FormatDecoder;
import io.framecast.engine.session.LossTally;
import io.framecast.engine.session.SessionHost;
import io.framecast.engine.session.UseGuard;
import io.framecast.engine.session.Waiter;
import io.framecast.engine.sink.ReceiveMemory;
import io.framecast.reliability.assembly.Assembly;
import io.framecast.reliability.wire.StreamInfo;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.agrona.CloseHelper;
import org.agrona.collections.ArrayUtil;
import org.jspecify.annotations.Nullable;

/// A subscriber: the user's side of a [Subscription].
public final class EngineSubscriber implements Subscriber {
    private static final SessionQueue[] NO_QUEUES = {};

    private final Channel channel;
    private final DeviceBackend device;
    // The stream that frames offer for work on them; closed with the device.
    private @Nullable DeviceStream stream;
    private final SessionHost host;
    private final Consumer<EngineSubscriber> removal;
    private final UseGuard guard;
    private final Waiter sleeper = new Waiter();
    private final PostedBuffers posted;
    private final FormatDecoder formats;
    // Frame maximum of the source that was heard; before that, the channel's.
    private volatile long frameMaxBytes;
    // The receiver replaces the array; both threads read its elements.
    private volatile SessionQueue[] queues = NO_QUEUES;
    // Index of the next queue in round-robin order; used by the subscriber's thread.
    private int turn;
    private volatile State state = State.JOINING;
    private volatile @Nullable String failure;
    private volatile SubscriberStats stats = SubscriberStats.NONE;
    // Frames that the user polled, counted by the subscriber's thread; the receiver counts the other statistics.
    private long frames;
    private long bytes;
    private long inPlaceFrames;
    private final LossTally lost = new LossTally();
    private volatile @Nullable PlacementReport placement;
    private volatile LossHandler onLoss = (_, _, _) -> {};
    private volatile SourceListener listener = SourceListener.NONE;
    // The node may also close the subscriber, from another thread.
    private final AtomicBoolean closed = new AtomicBoolean();

    /// @param removal takes the subscriber out of the duty cycle and closes its session
    public EngineSubscriber(
            final Channel channel,
            final DeviceBackend device,
            final SessionHost host,
            final Consumer<EngineSubscriber> removal) {
        this.channel = channel;
        this.device = device;
        guard = new UseGuard("subscriber of " + channel.name());
        this.host = host;
        this.removal = removal;
        posted = new PostedBuffers(device);
        formats = new FormatDecoder(notice -> host.notices().accept("subscriber of " + channel.name() + ": " + notice));
        frameMaxBytes = channel.stream().frameMaxBytes();
    }

    @Override
    public Channel channel() {
        return channel;
    }

    FormatDecoder formats() {
        return formats;
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
        // The subscriber sees every frame and every loss before the state becomes final.
        final boolean over = current == State.END_OF_STREAM || current == State.SOURCE_LOST;
        return over && hasNews() ? State.READY : current;
    }

    @Override
    public Optional<String> failure() {
        return Optional.ofNullable(failure);
    }

    @Override
    public int poll(final FrameHandler handler, final int limit) {
        try (UseGuard _ = guard.enter()) {
            int count = 0;
            while (count < limit) {
                final DeviceFrame frame = pollGuarded();
                if (frame == null) {
                    break;
                }
                count++;
                handler.onFrame(frame);
            }
            return count;
        }
    }

    @Override
    public @Nullable DeviceFrame poll() {
        try (UseGuard _ = guard.enter()) {
            return pollGuarded();
        }
    }

    private @Nullable DeviceFrame pollGuarded() {
        if (closed.get()) {
            return null;
        }
        final SessionQueue[] all = queues;
        // Two rounds, because a queue may wait for the end of another.
        final int looks = all.length == 1 ? 1 : 2 * all.length;
        for (int i = 0; i < looks; i++) {
            final int index = (turn + i) % all.length;
            final EngineFrame frame = all[index].poll(host);
            if (closed.get()) {
                // A handler closed the subscriber just now, or the node did.
                CloseHelper.close(frame);
                return null;
            }
            if (frame != null) {
                turn = index + 1;
                frames++;
                bytes += frame.length();
                inPlaceFrames += frame.inPlace() ? 1 : 0;
                return frame;
            }
        }
        return null;
    }

    /// Subscriber's thread, in [#poll].
    void onLoss(final long session, final long firstFrameId, final long count, final LossReason reason) {
        lost.add(reason, count);
        if (closed.get()) {
            return;
        }
        onLoss.onLoss(session, firstFrameId, count, reason);
    }

    /// Subscriber's thread, in [#poll].
    void onSource(final SourceEvent event) {
        if (!closed.get()) {
            listener.onSource(event);
        }
    }

    @Override
    public void onSource(final SourceHandler handler) {
        listener = new SourceListener.Handler(handler);
    }

    @Override
    public void onLoss(final LossHandler handler) {
        onLoss = handler;
    }

    @Override
    public boolean awaitFrame(final Duration longest) {
        try (UseGuard _ = guard.enter()) {
            host.await(sleeper, () -> hasNews() || isOver(), longest);
            return hasNews() && !closed.get();
        }
    }

    // Whether a poll would find something.
    private boolean hasNews() {
        final SourceListener heard = listener;
        for (final SessionQueue queue : queues) {
            if (queue.hasNews() || heard.awaits(queue)) {
                return true;
            }
        }
        return false;
    }

    // Whether no further frame will arrive.
    private boolean isOver() {
        return closed.get()
                || switch (state) {
                    case JOINING, READY -> false;
                    case END_OF_STREAM, SOURCE_LOST, FAILED, CLOSED -> true;
                };
    }

    @Override
    public boolean post(final DeviceRegion region) {
        try (UseGuard _ = guard.enter()) {
            return !isOver() && posted.offer(region, frameMaxBytes);
        }
    }

    @Override
    public boolean isPosted(final DeviceRegion region) {
        try (UseGuard _ = guard.enter()) {
            return posted.overlaps(region);
        }
    }

    @Override
    public Optional<PlacementReport> placement() {
        return Optional.ofNullable(placement);
    }

    /// Conductor: the placement of frames in the device's memory was chosen.
    void onPlacement(final PlacementReport report) {
        placement = report;
    }

    @Override
    public SubscriberStats stats() {
        final SubscriberStats seen = stats;
        return new SubscriberStats(
                frames,
                bytes,
                inPlaceFrames,
                seen.reassembledBytes(),
                seen.repairedDatagrams(),
                seen.duplicateDatagrams(),
                lost.counts(),
                seen.rejectedDatagrams(),
                seen.rejoins());
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            sleeper.wake();
            for (final SessionQueue queue : queues) {
                queue.giveUp();
            }
            removal.accept(this);
        }
    }

    /// Frames polled. The subscriber's thread counts them and the next two; other threads may read older values.
    long frames() {
        return frames;
    }

    /// Their bytes.
    long bytes() {
        return bytes;
    }

    /// Frames polled that lie where they were first received.
    long inPlaceFrames() {
        return inPlaceFrames;
    }

    /// The stream that frames offer for work on them; work that is enqueued on it from now on starts after the
    /// event.
    DeviceStream streamBehind(final DeviceEvent ready) {
        try (UseGuard _ = guard.enter()) {
            if (stream == null) {
                stream = device.openStream();
            }
            stream.await(ready);
            return stream;
        }
    }

    PostedBuffers posted() {
        return posted;
    }

    /// Frames that wait to be polled.
    public int delivered() {
        int count = 0;
        for (final SessionQueue queue : queues) {
            count += queue.delivered();
        }
        return count;
    }

    /// Hears of sources that come and go.
    SourceListener listener() {
        return listener;
    }

    /// Conductor: opens a queue for a session that is to be joined; it is not polled before [#add].
    SessionQueue openQueue(
            final StreamInfo stream, final ReceiveMemory memory, final Assembly assembly, final PostedTargets targets) {
        frameMaxBytes = queues.length == 0 ? stream.frameMaxBytes() : Math.max(frameMaxBytes, stream.frameMaxBytes());
        return new SessionQueue(stream.session(), this, sleeper, host.receiverWakeup(), memory, assembly, targets);
    }

    /// Receiver: a session was joined.
    ///
    /// @param firstReportedId the first frame that is delivered or reported lost
    /// @param ordered whether the queue waits for all other queues; otherwise it waits only for those of its own
    ///     session
    void add(final SessionQueue queue, final SourceEvent joined, final long firstReportedId, final boolean ordered) {
        final SessionQueue[] all = queues;
        SessionQueue before = null;
        for (final SessionQueue other : all) {
            before = ordered || other.session() == queue.session() ? other : before;
        }
        queue.begin(joined, firstReportedId, before);
        queues = ArrayUtil.add(all, queue);
        sleeper.wake();
    }

    /// Receiver: a membership ended.
    void end(final SessionQueue queue, final SourceEvent over) {
        queue.end(over);
        sleeper.wake();
    }

    /// Receiver: the subscriber has taken everything from the queue.
    void remove(final SessionQueue queue) {
        queue.retire();
        queues = ArrayUtil.remove(queues, queue);
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
        sleeper.wake();
    }

    /// The subscriber receives from no source: it declined the source that it heard, or it waits for a lost one.
    void onAlone(final String reason) {
        failure = reason;
        state = State.JOINING;
    }

    /// Receiver's thread: publishes the statistics that the subscriber's thread does not count.
    void onStats(final SubscriberStats next) {
        stats = next;
    }

    void onEnd(final State next, final String reason) {
        failure = reason;
        state = next;
        sleeper.wake();
    }
}
