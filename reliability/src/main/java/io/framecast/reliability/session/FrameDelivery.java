package io.framecast.reliability.session;

import io.framecast.reliability.assembly.Assembly;
import io.framecast.reliability.receive.BundleTable;
import io.framecast.reliability.receive.DroppedFrames;
import io.framecast.reliability.receive.LossReason;
import io.framecast.reliability.receive.ReceivedFrame;
import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.receive.ReceiverMachine.State;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.StreamInfo;
import org.jspecify.annotations.Nullable;

/// Frames on their way from the machine to the consumer and back: their slots, and the frames that the
/// subscriber's delivery policy drops on the way.
///
/// A frame holds its slots from the moment the machine gives it out. Frames that are dropped behind a waiting frame
/// change neither its place nor its memory. One thread.
final class FrameDelivery {
    private final ReceiverMachine machine;
    private final Assembly assembly;
    private final FrameConsumer consumer;
    private final BundleTable bundle;
    private final boolean latest;
    private @Nullable ReceivedFrame pending;
    // At its last check, the pending frame was still being copied to its place.
    private boolean arriving;
    // The next frame is whole, and waits for memory in which it would be in one piece.
    private boolean blocked;
    // Of the frame or bundle that the machine gave out last.
    private long place;
    // Under `join=keyframe`: no keyframe was given yet.
    private boolean awaitsKeyframe;
    // Frames that had begun to arrive when the source was lost are reported.
    private boolean begunReported;
    // Under `latest`: keyframes are marked, and only these supersede.
    private boolean keyed;
    // Under `latest`: the frame behind the one handed over last.
    private long continuesId;

    FrameDelivery(
            final ReceiverMachine machine,
            final Assembly assembly,
            final FrameConsumer consumer,
            final Delivery delivery) {
        this.machine = machine;
        this.assembly = assembly;
        this.consumer = consumer;
        latest = delivery.kind() == Delivery.Kind.LATEST;
        bundle = new BundleTable(machine.stream());
    }

    /// Before the first frame: whether frames before the first keyframe are dropped.
    void awaitKeyframe(final boolean value) {
        awaitsKeyframe = value;
    }

    /// Whether delivery waits for a device, or for room at the consumer.
    boolean isWaiting() {
        return pending != null || blocked || (!consumer.areLossesFlushed() && !consumer.hasRoomForLosses());
    }

    /// Whether all frames that the machine gave out or dropped were handed on.
    boolean isEmpty() {
        return pending == null
                && bundle.remaining() == 0
                && consumer.areLossesFlushed()
                && (begunReported || machine.state() != State.LOST);
    }

    /// Hands over the frames that are whole.
    ///
    /// @return frames
    int deliver(final long nowNs) {
        int work = 0;
        dropSuperseded(nowNs);
        while (true) {
            final ReceivedFrame frame = pending == null ? next(nowNs) : pending;
            if (frame == null) {
                break;
            }
            pending = frame;
            if (!handOn(frame, nowNs)) {
                break;
            }
            pending = null;
            work++;
        }
        // Behind a frame that waits, later frames may have expired or become impossible to complete.
        dropUnfinished(nowNs);
        reportBegun();
        return work;
    }

    // Hands the frame over, or drops it; false where it must wait.
    private boolean handOn(final ReceivedFrame frame, final long nowNs) {
        if (machine.isExpired(frame.timestampNs(), nowNs)) {
            return consumer.hasRoomForLosses() && drop(frame, LossReason.EXPIRED);
        }
        if (awaitsKeyframe && !isKeyframe(frame)) {
            assembly.drop(place);
            consumer.onLoss(frame.frameId(), 1, LossReason.AWAITS_KEYFRAME);
            return true;
        }
        if (awaitsKeyframe && !consumer.flushLosses()) {
            // The user must hear of the frames that were dropped before it gets the first keyframe.
            return false;
        }
        awaitsKeyframe = false;
        if (latest && keyed && !isKeyframe(frame) && frame.frameId() != continuesId) {
            return consumer.hasRoomForLosses() && drop(frame, LossReason.AWAITS_KEYFRAME);
        }
        return handOver(frame);
    }

    private boolean drop(final ReceivedFrame frame, final LossReason reason) {
        pending = null;
        assembly.drop(place);
        consumer.onLateLoss(frame.frameId(), 1, reason);
        return true;
    }

    // The source is lost, and with it the frames that are incomplete. Every whole frame was handed over.
    private void reportBegun() {
        if (begunReported || machine.state() != State.LOST || pending != null || machine.nextFrameBytes() > 0) {
            return;
        }
        begunReported = true;
        final long begun = machine.begunFrames();
        report(machine.nextFrameId(), begun, LossReason.UNREPAIRABLE);
        report(begun, machine.knownFrames(), machine.isEvicted() ? LossReason.NOT_A_MEMBER : LossReason.UNREPAIRABLE);
        reportLosses();
    }

    private void report(final long firstId, final long endId, final LossReason reason) {
        if (endId > firstId) {
            consumer.onLoss(firstId, endId - firstId, reason);
        }
    }

    // A frame that could not be handed over is judged anew: under a policy it may be out of date by now. A frame
    // that is still being copied is not dropped for a newer one, which would need a copy as well, and so on without
    // end.
    private void dropSuperseded(final long nowNs) {
        final ReceivedFrame frame = pending;
        if (frame == null || !latest || keyed || arriving || !consumer.hasRoomForLosses()) {
            return;
        }
        if (bundle.remaining() > 0 || isNewerWhole(nowNs)) {
            drop(frame, LossReason.SUPERSEDED);
        }
    }

    private boolean isNewerWhole(final long nowNs) {
        dropBeforeNext(nowNs);
        return machine.nextFrameBytes() > 0;
    }

    private static boolean isKeyframe(final ReceivedFrame frame) {
        return (frame.flags() & DataLayout.FLAG_KEYFRAME) != 0;
    }

    // The next frame of the bundle that is being handed out, or of the machine.
    private @Nullable ReceivedFrame next(final long nowNs) {
        while (bundle.remaining() == 0) {
            dropBeforeNext(nowNs);
            if (!reportLosses()) {
                return null;
            }
            blocked = isBlocked();
            final ReceivedFrame frame = blocked ? null : machine.pollFrame();
            if (frame == null) {
                // The stream may have ended just now.
                reportLosses();
                return null;
            }
            place = assembly.deliver(frame);
            if (frame.bundleFrames() == 0) {
                return frame;
            }
            openBundle(frame);
        }
        return bundle.next();
    }

    private boolean isBlocked() {
        final long bytes = machine.nextFrameBytes();
        final long slots = StreamInfo.slots(bytes, machine.stream().slotBytes());
        // The session must hand a frame over as soon as the machine gave it out, or a successor would not find it.
        return bytes > 0
                && ((machine.isLogged() && !consumer.hasRoom())
                        || !assembly.canDeliver(machine.nextFrameSequence(), slots));
    }

    // Losses are reported before the frame behind them; else when the user has polled all other frames.
    private boolean reportLosses() {
        final boolean due =
                machine.nextFrameBytes() > 0 || consumer.areLossesHeard() || machine.state() != State.RECEIVING;
        return !due || consumer.areLossesFlushed() || consumer.flushLosses();
    }

    private void openBundle(final ReceivedFrame frame) {
        final int count = frame.bundleFrames();
        final long firstId = frame.frameId();
        boolean opened = false;
        try {
            opened = assembly.openBundle(frame, bundle);
        } finally {
            if (!opened) {
                // Its frames are lost, because a damaged table does not give their beginnings; the stream goes on.
                releaseUnseen(count);
            }
        }
        if (!opened) {
            consumer.onLoss(firstId, count, LossReason.DAMAGED);
        }
    }

    private void releaseUnseen(final int count) {
        for (int i = 0; i < count; i++) {
            assembly.drop(place);
        }
    }

    private boolean handOver(final ReceivedFrame frame) {
        // Before any frame is taken back for this one: the user would find no frame meanwhile.
        arriving = assembly.isArriving();
        if (arriving) {
            return false;
        }
        if (assembly.isGone()) {
            return consumer.hasRoomForLosses() && drop(frame, LossReason.DAMAGED);
        }
        if (latest && supersedes(frame)) {
            takeBackWaiting();
        }
        if (!consumer.hasRoom() || !assembly.locate(frame, place)) {
            return false;
        }
        continuesId = frame.frameId() + 1;
        consumer.onFrame(frame, place);
        return true;
    }

    private boolean supersedes(final ReceivedFrame frame) {
        keyed |= isKeyframe(frame);
        return !keyed || isKeyframe(frame);
    }

    // Takes back frames that the user has not polled yet, the oldest first, while there is room to report them.
    private void takeBackWaiting() {
        long firstId = 0;
        long count = 0;
        while (consumer.hasRoomForLosses()) {
            final long taken = consumer.takeBack();
            if (taken == FrameConsumer.NO_PLACE) {
                break;
            }
            final long id = consumer.takenBackId();
            assembly.release(taken);
            if (count > 0 && id != firstId + count) {
                consumer.onLateLoss(firstId, count, LossReason.SUPERSEDED);
                count = 0;
            }
            firstId = count == 0 ? id : firstId;
            count++;
        }
        if (count > 0) {
            consumer.onLateLoss(firstId, count, LossReason.SUPERSEDED);
        }
    }

    private void dropUnfinished(final long nowNs) {
        for (DroppedFrames d = machine.pollUnfinished(nowNs); d != null; d = machine.pollUnfinished(nowNs)) {
            skip(d, nowNs);
        }
    }

    // Until the next frame is one to deliver, or one to wait for.
    private void dropBeforeNext(final long nowNs) {
        dropUnfinished(nowNs);
        for (DroppedFrames d = machine.pollOutdated(nowNs); d != null; d = machine.pollOutdated(nowNs)) {
            skip(d, nowNs);
            dropUnfinished(nowNs);
        }
    }

    private void skip(final DroppedFrames dropped, final long nowNs) {
        assembly.skip(dropped.firstSequence(), dropped.endSequence());
        if (dropped.frames() > 0) {
            consumer.onLoss(dropped.firstFrameId(), dropped.frames(), dropped.reason());
        }
        credit(nowNs);
    }

    /// Passes the credit limit of the assembly to the machine.
    void credit(final long nowNs) {
        if (machine.state() == State.RECEIVING) {
            machine.onCredit(assembly.creditLimit(), nowNs);
        }
    }

    /// Gives back frames that were delivered and never polled, after the consumer closed.
    void drain() {
        for (long taken = consumer.takeBack(); taken != FrameConsumer.NO_PLACE; taken = consumer.takeBack()) {
            assembly.release(taken);
        }
        releaseUnseen((pending == null ? 0 : 1) + bundle.remaining());
        pending = null;
        bundle.clear();
    }
}
