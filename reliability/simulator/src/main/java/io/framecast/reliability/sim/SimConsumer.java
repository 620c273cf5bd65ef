package io.framecast.reliability.sim;

import io.framecast.reliability.assembly.FrameMemory.Space;
import io.framecast.reliability.assembly.PostedOffset;
import io.framecast.reliability.flow.SourceClock;
import io.framecast.reliability.receive.LossReason;
import io.framecast.reliability.receive.ReceivedFrame;
import io.framecast.reliability.sim.plan.Plant;
import io.framecast.reliability.sim.record.SimFrames;
import java.util.ArrayDeque;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// The user of one membership: a short queue of frames and losses. The user takes the next of them, keeps it for
/// a while and releases it.
final class SimConsumer implements SimReception.Taker {
    private static final int LOSSES_MAX = 16;

    /// A frame that waits for the user.
    private record Queued(FrameCheck.Held held, long place) {}

    private record Loss(long count, LossReason reason) {}

    private final SimReception reception;
    private final SimReceiver process;
    private final SimFrameMemory memory;
    private final SimBuffers buffers;
    private final FrameCheck checks;
    private final SourceClock clock;
    private final Plant plant;
    private final RandomGenerator random;
    private final int queueMax;
    private final int heldMax;
    private final ArrayDeque<Queued> queue = new ArrayDeque<>();
    private final ArrayDeque<Long> released = new ArrayDeque<>();
    // Losses that the user can find, by first number.
    private final TreeMap<Long, Loss> losses = new TreeMap<>();
    private long openFirstId;
    private long openCount;
    private @Nullable LossReason openReason;
    private long takenBackId;
    private int held;

    SimConsumer(
            final SimReception reception,
            final SimReceiver process,
            final SimFrameMemory memory,
            final SimBuffers buffers,
            final FrameCheck checks,
            final SourceClock clock) {
        this.reception = reception;
        this.process = process;
        this.memory = memory;
        this.buffers = buffers;
        this.checks = checks;
        this.clock = clock;
        plant = process.world().plant();
        random = process.random();
        queueMax = 1 + random.nextInt(4);
        heldMax = process.world().options().flow().framesHeld();
    }

    @Override
    public int held() {
        return held;
    }

    @Override
    public boolean isQuiet() {
        return held == 0 && queue.isEmpty() && losses.isEmpty() && openCount == 0 && released.isEmpty();
    }

    @Override
    public boolean hasRoom() {
        return queue.size() < queueMax && !(reception.isLost() && plant == Plant.DROP_WHOLE_FRAMES);
    }

    @Override
    public void onFrame(final ReceivedFrame frame, final long place) {
        if (random.nextInt(8) == 0) {
            buffers.post();
        }
        final Space space = reception.session().assembly().space();
        final long offset = reception.session().assembly().offset();
        final FrameCheck.Held one =
                checks.onFrame(frame, memory.of(space, offset), PostedOffset.within(offset), space == Space.RING);
        if (space == Space.POSTED) {
            memory.unpost(PostedOffset.number(offset));
        }
        if (one == null) {
            return;
        }
        if (plant == Plant.RELEASE_EARLY) {
            released.add(place);
        }
        queue.add(new Queued(one, place));
    }

    @Override
    public long nextReleased() {
        return released.isEmpty() ? NO_PLACE : released.remove();
    }

    @Override
    public long takeBack() {
        if (queue.isEmpty()) {
            return NO_PLACE;
        }
        final Queued oldest = queue.remove();
        takenBackId = oldest.held.truth().id();
        return oldest.place;
    }

    @Override
    public long takenBackId() {
        return takenBackId;
    }

    @Override
    public void onLoss(final long firstFrameId, final long count, final LossReason reason) {
        checks.onDropped(firstFrameId, count, reason);
        if (reason != openReason) {
            flushLosses();
        }
        openFirstId = openCount == 0 ? firstFrameId : openFirstId;
        openCount += count;
        openReason = reason;
    }

    @Override
    public void onLateLoss(final long firstFrameId, final long count, final LossReason reason) {
        checks.onDropped(firstFrameId, count, reason);
        if (plant != Plant.FORGET_TAKEN_BACK) {
            losses.put(firstFrameId, new Loss(count, reason));
        }
    }

    @Override
    public boolean hasRoomForLosses() {
        return losses.size() < LOSSES_MAX;
    }

    @Override
    public boolean flushLosses() {
        final LossReason reason = openReason;
        if (openCount == 0 || reason == null) {
            return true;
        }
        if (!hasRoomForLosses()) {
            return false;
        }
        if (plant != Plant.FORGET_GIVEN_UP) {
            losses.put(openFirstId, new Loss(openCount, reason));
        }
        openCount = 0;
        return true;
    }

    @Override
    public boolean areLossesFlushed() {
        return openCount == 0;
    }

    @Override
    public boolean areLossesHeard() {
        return losses.isEmpty();
    }

    // The user takes the next loss, or the next frame while it may hold one more.
    @Override
    public boolean advance() {
        boolean any = false;
        while (true) {
            final Loss loss = losses.remove(checks.expectedFrame());
            if (loss != null) {
                checks.onLost(loss.count, loss.reason);
            } else if (!queue.isEmpty() && held < heldMax) {
                take(queue.remove());
            } else {
                return any;
            }
            any = true;
        }
    }

    private void take(final Queued next) {
        if (isExpired(next.held.truth())) {
            drop(next);
            return;
        }
        if (!checks.onTaken(next.held)) {
            return;
        }
        held++;
        // Some users close a frame without a look at it, perhaps before its copies have ended.
        final boolean unseen = random.nextInt(32) == 0;
        memory.whenReady(() -> {
            if (!unseen) {
                checks.check(next.held, "delivered");
            }
        });
        final long nowNs = process.events().nowNs();
        final long untilNs = unseen ? nowNs : process.user().keepUntilNs(random, nowNs);
        process.events()
                .at(untilNs, unseen ? () -> release(next, true) : () -> memory.whenReady(() -> release(next, false)));
    }

    // While it waited for the user.
    private boolean isExpired(final SimFrames.Frame frame) {
        return frame.id() == checks.expectedFrame() && clock.isExpired(frame.timestampNs(), process.nowNs());
    }

    // The user gets a report in its place.
    private void drop(final Queued next) {
        checks.onDropped(next.held.truth().id(), 1, LossReason.EXPIRED);
        checks.onLost(1, LossReason.EXPIRED);
        if (plant != Plant.RELEASE_EARLY) {
            released.add(next.place);
        }
        process.wakeAfter(0);
    }

    // A user whose process stands still returns nothing.
    private void release(final Queued frame, final boolean unseen) {
        if (process.isStopped()) {
            return;
        }
        if (process.isPaused()) {
            process.events().at(process.pausedUntilNs(), () -> release(frame, unseen));
            return;
        }
        if (!unseen) {
            checks.check(frame.held, "returned");
        }
        held--;
        if (plant != Plant.RELEASE_EARLY) {
            released.add(frame.place);
        }
        if (plant == Plant.RELEASE_TWICE) {
            released.add(frame.place);
        }
        process.wakeAfter(0);
    }
}
