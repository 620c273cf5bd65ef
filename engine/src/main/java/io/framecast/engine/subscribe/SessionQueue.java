package io.framecast.engine.subscribe;

import io.framecast.api.LossHandler;
import io.framecast.api.SourceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.engine.ready.Wakeup;
import io.framecast.engine.session.Policies;
import io.framecast.engine.session.SessionHost;
import io.framecast.engine.session.Waiter;
import io.framecast.engine.sink.ReceiveMemory;
import io.framecast.reliability.assembly.Assembly;
import io.framecast.reliability.assembly.FrameMemory.Space;
import io.framecast.reliability.flow.SourceClock;
import io.framecast.reliability.receive.LossReason;
import io.framecast.reliability.receive.ReceivedFrame;
import io.framecast.reliability.session.FrameConsumer;
import java.util.concurrent.atomic.AtomicReference;
import org.agrona.CloseHelper;
import org.agrona.concurrent.ManyToManyConcurrentArrayQueue;
import org.agrona.concurrent.ManyToOneConcurrentArrayQueue;
import org.jspecify.annotations.Nullable;

/// The events of one membership in one session, in order: its start, its frames and losses, its end. Filled by
/// the receiver's thread, read by the subscriber's. Released frames come back to the receiver's thread, which
/// gives their slots back once the streams that they were released on have completed.
///
/// Holds at most [#FRAMES_MAX] frame objects, which are created on demand and reused.
public final class SessionQueue implements FrameConsumer {
    /// Frames delivered and not yet released, at most; further frames stay in the ring and withhold credit. A
    /// subscriber that is descheduled for some milliseconds needs that much work waiting for it: at a million
    /// small frames a second, one millisecond is a thousand frames.
    public static final int FRAMES_MAX = 16_384;

    // Released bytes that are worth an early credit report to the source.
    private static final long WAKING_BYTES = 1 << 15;
    // Queries of streams in one cycle: a device query is the most expensive step of the cycle.
    private static final int LOOKS_MAX = 1024;
    private static final int NO_CYCLE = -1;

    private final long session;
    private final EngineSubscriber subscriber;
    private final Waiter sleeper;
    private final Wakeup receiver;
    private final ReceiveMemory memory;
    private final Assembly assembly;
    private final LossQueue losses = new LossQueue();
    private final SourceClock clock;
    // A field, because every poll passes it on.
    private final LossHandler onLoss = this::reportLoss;

    // Polled by the subscriber, and by the receiver when it takes back frames that are out of date or unpolled.
    private final ManyToManyConcurrentArrayQueue<EngineFrame> delivered =
            new ManyToManyConcurrentArrayQueue<>(FRAMES_MAX);
    // Any thread that worked on a frame may release it.
    private final ManyToOneConcurrentArrayQueue<EngineFrame> returned = new ManyToOneConcurrentArrayQueue<>(FRAMES_MAX);

    // The receiver's.
    private final EngineFrame[] all = new EngineFrame[FRAMES_MAX];
    private final EngineFrame[] free = new EngineFrame[FRAMES_MAX];
    private int made;
    private int freeCount;
    // Frames released on a stream that has not completed; bounded by the number of frames.
    private final EngineFrame[] draining = new EngineFrame[FRAMES_MAX];
    private int drainingCount;
    private int drainingNext;
    // Queries of streams that remain in this cycle.
    private int looksLeft = NO_CYCLE;
    private long takenBackId;
    private final PostedTargets targets;

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

    /// @param sleeper the subscriber's, which sleeps until the queue has an event
    /// @param receiver the receiver's, which sleeps until frames were released
    /// @param targets the user's buffers, into which the assembly receives frames
    SessionQueue(
            final long session,
            final EngineSubscriber subscriber,
            final Waiter sleeper,
            final Wakeup receiver,
            final ReceiveMemory memory,
            final Assembly assembly,
            final PostedTargets targets) {
        this.session = session;
        this.subscriber = subscriber;
        this.sleeper = sleeper;
        this.receiver = receiver;
        this.memory = memory;
        this.assembly = assembly;
        this.targets = targets;
        clock = new SourceClock(Policies.onWire(subscriber.channel().stream().delivery()));
    }

    long session() {
        return session;
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

    /// Whether the end of the session was reported, or the subscriber polls this queue no more.
    boolean isFinished() {
        return finished;
    }

    /// Receiver: whether the membership ended, and the subscriber took all its frames and losses.
    boolean isTaken() {
        return over != null && !hasDelivered() && losses.isEmpty();
    }

    /// Receiver: the subscriber no longer polls this queue.
    void retire() {
        finished = true;
    }

    /// Receiver: whether some streams must be queried again.
    boolean isDraining() {
        return drainingCount > 0;
    }

    @Override
    public boolean hasRoom() {
        return freeCount > 0 || made < FRAMES_MAX;
    }

    @Override
    public void onFrame(final ReceivedFrame frame, final long place) {
        final EngineFrame object = unused();
        final DeviceRegion region = memory.region(assembly.space(), assembly.offset(), frame.bytes());
        memory.record(object.ready());
        object.fill(frame, region, assembly.isInPlace());
        object.held(place, assembly.space() == Space.POSTED ? targets.handOver(assembly.offset()) : null);
        if (!delivered.offer(object)) {
            throw new IllegalStateException("more frames than places");
        }
        sleeper.wake();
    }

    private EngineFrame unused() {
        if (freeCount > 0) {
            return free[--freeCount];
        }
        final EngineFrame frame = new EngineFrame(session, subscriber, this);
        all[made++] = frame;
        return frame;
    }

    @Override
    public long nextReleased() {
        targets.settle();
        for (EngineFrame frame = returned.poll(); frame != null; frame = returned.poll()) {
            // Before the query of its stream: a lost device answers with an exception, and a list must hold the
            // frame then.
            draining[drainingCount++] = frame;
            if (frame.isConsumed()) {
                drainingCount--;
                return release(frame);
            }
        }
        looksLeft = looksLeft == NO_CYCLE ? Math.min(drainingCount, LOOKS_MAX) : looksLeft;
        while (looksLeft > 0 && drainingCount > 0) {
            looksLeft--;
            drainingNext = drainingNext >= drainingCount ? 0 : drainingNext;
            final EngineFrame frame = draining[drainingNext];
            if (frame.isConsumed()) {
                draining[drainingNext] = draining[--drainingCount];
                return release(frame);
            }
            drainingNext++;
        }
        looksLeft = NO_CYCLE;
        return NO_PLACE;
    }

    private long release(final EngineFrame frame) {
        final long place = frame.place();
        final PostedBuffers.Posted buffer = frame.unusedBuffer();
        if (buffer != null) {
            targets.giveBack(buffer);
        }
        frame.onRecycled();
        free[freeCount++] = frame;
        return place;
    }

    @Override
    public long takeBack() {
        final EngineFrame frame = delivered.poll();
        if (frame == null) {
            return NO_PLACE;
        }
        takenBackId = frame.frameId();
        return release(frame);
    }

    @Override
    public long takenBackId() {
        return takenBackId;
    }

    @Override
    public void onLoss(final long firstFrameId, final long count, final LossReason reason) {
        losses.add(firstFrameId, count, Policies.reason(reason));
    }

    @Override
    public void onLateLoss(final long firstFrameId, final long count, final LossReason reason) {
        losses.offer(firstFrameId, count, Policies.reason(reason));
    }

    @Override
    public boolean hasRoomForLosses() {
        return losses.hasRoom();
    }

    @Override
    public boolean flushLosses() {
        if (losses.isFlushed()) {
            return true;
        }
        final boolean flushed = losses.flush();
        sleeper.wake();
        return flushed;
    }

    @Override
    public boolean areLossesFlushed() {
        return losses.isFlushed();
    }

    @Override
    public boolean areLossesHeard() {
        return losses.isEmpty();
    }

    /// Receiver: nothing arrives any more.
    void leave() {
        assembly.leave();
    }

    /// Receiver, when every frame came back and the memory is closed.
    void close() {
        targets.close();
        for (int i = 0; i < made; i++) {
            all[i].closeEvents();
        }
    }

    /// Any thread: a frame is released.
    void giveBack(final EngineFrame frame) {
        final boolean waking = frame.length() >= WAKING_BYTES;
        if (!returned.offer(frame)) {
            throw new IllegalStateException("a frame was released twice");
        }
        // The receiver finds small frames when it wakes for other reasons.
        if (waking || returned.size() >= FRAMES_MAX / 4) {
            receiver.wake();
        }
    }

    /// Frames that wait to be polled.
    int delivered() {
        return delivered.size();
    }

    // A queue that is not empty may hold only a frame whose handoff is unfinished.
    private boolean hasDelivered() {
        return delivered.peek() != null;
    }

    /// Subscriber: whether a poll would find a frame or a loss.
    boolean hasNews() {
        return hasDelivered() || detained.get() != null || !losses.isEmpty();
    }

    /// Subscriber: whether a poll would report the start or the end of the session.
    boolean hasEvent() {
        return !joinedReported || (over != null && !finished);
    }

    /// Subscriber: the next frame, or null. Reports the events before the frame to the handlers. An exception of
    /// a handler propagates; its event counts as reported, and the next poll returns the frame.
    ///
    /// @param host gives the engine's time
    @Nullable
    EngineFrame poll(final SessionHost host) {
        if (isBlocked()) {
            return null;
        }
        if (!joinedReported && joined != null) {
            joinedReported = true;
            subscriber.onSource(joined);
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
            reportLoss(frameId, 1, io.framecast.api.LossReason.EXPIRED);
        }
    }

    private @Nullable EngineFrame take() {
        final EngineFrame first = detained.get() == null ? null : detained.getAndSet(null);
        if (first != null) {
            return first;
        }
        final EngineFrame frame = delivered.poll();
        return frame == null ? null : frame.take();
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
        CloseHelper.close(detained.getAndSet(null));
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
            subscriber.onSource(end);
        }
    }

    private void reportLoss(final long firstFrameId, final long count, final io.framecast.api.LossReason reason) {
        nextId = firstFrameId + count;
        subscriber.onLoss(session, firstFrameId, count, reason);
    }
}
