package io.framecast.engine.subscribe;

import io.framecast.api.spi.DeviceRegion;
import io.framecast.engine.session.Policies;
import io.framecast.engine.sink.ReceiveMemory;
import io.framecast.reliability.assembly.Assembly;
import io.framecast.reliability.receive.LossReason;
import io.framecast.reliability.receive.ReceivedFrame;
import io.framecast.reliability.session.FrameConsumer;
import org.jspecify.annotations.Nullable;

/// Hands one session's frames and losses to the subscriber's thread. Takes released frames back once the streams
/// that they were released on have completed. Used by the receiver's thread.
final class FrameHandoff implements FrameConsumer {
    // Queries of streams in one cycle: a device query is the most expensive step of the cycle.
    private static final int LOOKS_MAX = 1024;
    private static final int NO_CYCLE = -1;

    private final DeliveredFrames frames;
    private final LossQueue losses;
    private final PostedBuffers posted;
    private final ReceiveMemory memory;
    private final Assembly assembly;
    // Frames released on a stream that has not completed; bounded by the number of frames.
    private final EngineFrame[] draining = new EngineFrame[DeliveredFrames.FRAMES_MAX];
    private int drainingCount;
    private int drainingNext;
    // Queries of streams that remain in this cycle.
    private int looksLeft = NO_CYCLE;
    private long takenBackId;
    private PostedBuffers.@Nullable Posted target;

    FrameHandoff(
            final SessionQueue queue, final PostedBuffers posted, final ReceiveMemory memory, final Assembly assembly) {
        frames = queue.frames();
        losses = queue.losses();
        this.posted = posted;
        this.memory = memory;
        this.assembly = assembly;
    }

    /// Whether some streams must be queried again.
    boolean isDraining() {
        return drainingCount > 0;
    }

    @Override
    public boolean hasRoom() {
        return frames.hasRoom();
    }

    @Override
    public boolean wantsPosted(final long bytes) {
        final PostedBuffers.Posted next = posted.peek(bytes);
        target = next;
        if (next != null) {
            memory.post(next.region());
        }
        return next != null;
    }

    @Override
    public boolean isPostedGone(final long bytes) {
        return posted.peek(bytes) != target;
    }

    @Override
    public void onFrame(final ReceivedFrame frame, final long place) {
        final EngineFrame object = frames.take();
        final DeviceRegion region = memory.region(assembly.space(), assembly.offset(), frame.bytes());
        memory.record(object.ready());
        if (target != null) {
            posted.take();
        }
        object.fill(frame, region, assembly.isInPlace());
        object.held(place, target);
        frames.deliver(object);
    }

    @Override
    public long nextReleased() {
        for (EngineFrame frame = frames.nextReturned(); frame != null; frame = frames.nextReturned()) {
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
        return NONE;
    }

    private long release(final EngineFrame frame) {
        final long place = frame.place();
        final PostedBuffers.Posted buffer = frame.unusedBuffer();
        if (buffer != null) {
            posted.giveBack(buffer);
        }
        frame.onRecycled();
        frames.recycle(frame);
        return place;
    }

    @Override
    public long takeBack() {
        final EngineFrame frame = frames.takeBack();
        if (frame == null) {
            return NONE;
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
        frames.subscriber().wake();
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
}
