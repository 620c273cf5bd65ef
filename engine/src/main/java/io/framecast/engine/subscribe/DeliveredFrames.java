package io.framecast.engine.subscribe;

import io.framecast.engine.ready.Wakeup;
import io.framecast.engine.session.Waiter;
import org.agrona.concurrent.ManyToManyConcurrentArrayQueue;
import org.agrona.concurrent.ManyToOneConcurrentArrayQueue;
import org.jspecify.annotations.Nullable;

/// Carries one session's frames between the receiver's thread and the subscriber's: delivered frames one way,
/// released frames back. Holds at most [#FRAMES_MAX] frame objects, which are created on demand and reused.
public final class DeliveredFrames implements FrameReturns {
    /// Frames delivered and not yet released, at most; further frames stay in the ring and withhold credit. A
    /// subscriber that is descheduled for some milliseconds needs that much work waiting for it: at a million small
    /// frames a second, one millisecond is a thousand frames.
    public static final int FRAMES_MAX = 16_384;

    // Released bytes that are worth an early credit report to the source.
    private static final long WAKING_BYTES = 1 << 15;

    private final long session;
    private final ConsumerStream consumer;
    // Polled by the subscriber, and by the receiver when it takes back frames that are out of date or unpolled.
    private final ManyToManyConcurrentArrayQueue<EngineFrame> delivered =
            new ManyToManyConcurrentArrayQueue<>(FRAMES_MAX);
    // Any thread that worked on a frame may release it.
    private final ManyToOneConcurrentArrayQueue<EngineFrame> returned = new ManyToOneConcurrentArrayQueue<>(FRAMES_MAX);
    private final EngineFrame[] all = new EngineFrame[FRAMES_MAX];
    private final EngineFrame[] free = new EngineFrame[FRAMES_MAX];
    private int made;
    private int freeCount;
    private Wakeup receiver = Wakeup.NONE;
    private final Waiter subscriber;

    /// @param subscriber sleeps until a frame is delivered
    DeliveredFrames(final long session, final ConsumerStream consumer, final Waiter subscriber) {
        this.session = session;
        this.consumer = consumer;
        this.subscriber = subscriber;
    }

    /// Sets how a released frame wakes the receiver; called before the first frame.
    void wakeBy(final Wakeup agent) {
        receiver = agent;
    }

    /// Receiver: whether [#take] finds an object.
    boolean hasRoom() {
        return freeCount > 0 || made < FRAMES_MAX;
    }

    /// Receiver: an object to fill; only while [#hasRoom].
    EngineFrame take() {
        if (freeCount > 0) {
            return free[--freeCount];
        }
        final EngineFrame frame = new EngineFrame(session, consumer, this);
        all[made++] = frame;
        return frame;
    }

    /// Receiver: returns an object that is not in use.
    void recycle(final EngineFrame frame) {
        free[freeCount++] = frame;
    }

    /// Receiver: hands a filled frame over. It never fails, because the queue has a place for every frame object.
    void deliver(final EngineFrame frame) {
        if (!delivered.offer(frame)) {
            throw new IllegalStateException("more frames than places");
        }
        subscriber.wake();
    }

    /// The subscriber's waiter, woken when something can be polled.
    Waiter subscriber() {
        return subscriber;
    }

    /// Receiver: the next released frame, or null.
    @Nullable
    EngineFrame nextReturned() {
        return returned.poll();
    }

    /// Subscriber: the next frame, or null.
    @Nullable
    EngineFrame poll() {
        final EngineFrame frame = delivered.poll();
        return frame == null ? null : frame.take();
    }

    /// Receiver: the oldest frame that was never polled, or null; the subscriber no longer sees it.
    @Nullable
    EngineFrame takeBack() {
        return delivered.poll();
    }

    /// Frames that wait to be polled.
    int delivered() {
        return delivered.size();
    }

    /// Whether [#poll] finds a frame: a queue that is not empty may hold only a frame whose handoff is unfinished.
    boolean hasDelivered() {
        return delivered.peek() != null;
    }

    @Override
    public void giveBack(final EngineFrame frame) {
        final boolean waking = frame.length() >= WAKING_BYTES;
        if (!returned.offer(frame)) {
            throw new IllegalStateException("a frame was released twice");
        }
        // The receiver finds small frames when it wakes for other reasons.
        if (waking || returned.size() >= FRAMES_MAX / 4) {
            receiver.wake();
        }
    }

    void close() {
        for (int i = 0; i < made; i++) {
            all[i].closeEvents();
        }
    }
}
