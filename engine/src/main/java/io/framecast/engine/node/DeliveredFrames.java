package io.framecast.engine.node;

import io.framecast.engine.ready.Wakeup;
import org.agrona.concurrent.ManyToManyConcurrentArrayQueue;
import org.agrona.concurrent.ManyToOneConcurrentArrayQueue;
import org.jspecify.annotations.Nullable;

/// Carries one session's frames between the receiver's thread and the subscriber's: delivered frames one way,
/// released frames back. Holds at most [#FRAMES_MAX] frame objects, made as they are needed and reused for
/// ever.
final class DeliveredFrames implements FrameReturns {
    /// Frames delivered and not yet released, at most; more stay in the ring and withhold credit. A
    /// subscriber that is not run for some milliseconds must find work for as long: at a million small frames
    /// a second a thousand is one.
    static final int FRAMES_MAX = 16_384;

    // Room for this much is worth telling the source soon.
    private static final long WAKING_BYTES = 1 << 15;

    private final long session;
    private final ConsumerStream consumer;
    // Polled by the subscriber, and by the receiver that takes back what is out of date or was never polled.
    private final ManyToManyConcurrentArrayQueue<EngineFrame> delivered =
            new ManyToManyConcurrentArrayQueue<>(FRAMES_MAX);
    // Frames may be released by the threads that worked on them.
    private final ManyToOneConcurrentArrayQueue<EngineFrame> returned = new ManyToOneConcurrentArrayQueue<>(FRAMES_MAX);
    private final EngineFrame[] all = new EngineFrame[FRAMES_MAX];
    private final EngineFrame[] free = new EngineFrame[FRAMES_MAX];
    private int made;
    private int freeCount;
    private Wakeup receiver = Wakeup.NONE;
    private final Waiter subscriber;

    /// @param subscriber sleeps until there is something
    DeliveredFrames(final long session, final ConsumerStream consumer, final Waiter subscriber) {
        this.session = session;
        this.consumer = consumer;
        this.subscriber = subscriber;
    }

    /// Before the first frame: how the receiver is woken.
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

    /// Receiver: an object that is not in use.
    void recycle(final EngineFrame frame) {
        free[freeCount++] = frame;
    }

    /// Receiver: hands a filled frame over; never fails, as there are no more frames than places.
    void deliver(final EngineFrame frame) {
        if (!delivered.offer(frame)) {
            throw new IllegalStateException("more frames than places");
        }
        subscriber.wake();
    }

    /// Wakes the subscriber, who has something to look at.
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

    /// Receiver: the oldest frame that was never polled, or null; nobody else will see it.
    @Nullable
    EngineFrame takeBack() {
        return delivered.poll();
    }

    /// Frames that wait to be polled.
    int delivered() {
        return delivered.size();
    }

    /// Whether [#poll] finds one: a queue that is not empty may hold only one that is just being handed over.
    boolean hasDelivered() {
        return delivered.peek() != null;
    }

    @Override
    public void giveBack(final EngineFrame frame) {
        final boolean waking = frame.length() >= WAKING_BYTES;
        if (!returned.offer(frame)) {
            throw new IllegalStateException("a frame was released twice");
        }
        // Small ones are found when the receiver wakes for other reasons.
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
