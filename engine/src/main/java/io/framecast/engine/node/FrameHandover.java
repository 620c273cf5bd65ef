package io.framecast.engine.node;

import io.framecast.api.Delivery;
import io.framecast.api.LossReason;
import io.framecast.api.SourceOptions;
import io.framecast.api.StreamConfig;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.engine.sink.PayloadSink;
import io.framecast.reliability.BundleTable;
import io.framecast.reliability.GivenUp;
import io.framecast.reliability.ReceivedFrame;
import io.framecast.reliability.ReceiverMachine;
import io.framecast.reliability.ReceiverMachine.State;
import io.framecast.reliability.placement.FrameLedger;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.StreamInfo;
import org.jspecify.annotations.Nullable;

/// Frames on their way from the machine to the subscriber and back: which slots they hold, and under the
/// subscriber's delivery policy which are given up on the way. By the receiver's thread.
///
/// A frame holds its slots from the moment the machine gives it out. What is given up behind it while it
/// waits for an object, or for the mend buffer, changes neither its place nor where it lies.
final class FrameHandover {
    // Frames whose streams are asked in one cycle.
    private static final int LOOKS_MAX = 1024;

    private final ReceiverMachine machine;
    private final PayloadSink sink;
    private final FrameExchange exchange;
    private final LossQueue losses;
    private final FrameLedger ledger;
    private final BundleTable bundle;
    private final PostedBuffers posted;
    private final SourceClock clock;
    // Slots of the ring that are never granted.
    private final int spareSlots;
    private final boolean latest;
    // Released on a stream that is not done yet; bounded by the number of frames.
    private final EngineFrame[] draining = new EngineFrame[FrameExchange.FRAMES_MAX];
    private int drainingCount;
    private int drainingNext;
    private @Nullable ReceivedFrame pending;
    // When it was last looked at, it only had to arrive.
    private boolean arriving;
    // The next frame is whole, and waits for memory in which it would be in one piece.
    private boolean blocked;
    // Of the frame or bundle that the machine gave out last.
    private long place;
    // Under `join=keyframe`: none was given yet.
    private boolean awaitsKeyframe;
    // Frames that had begun to arrive when the source was lost are reported.
    private boolean begunReported;
    // Under `latest`: keyframes are marked, and only these supersede.
    private boolean keyed;
    // Under `latest`: the frame that follows what was handed over last.
    private long continuesId;

    FrameHandover(
            final SessionParts parts, final SourceFeed feed, final PostedBuffers posted, final StreamConfig config) {
        machine = parts.machine();
        sink = parts.sink();
        this.posted = posted;
        exchange = feed.exchange();
        losses = feed.losses();
        clock = feed.clock();
        latest = config.delivery() instanceof Delivery.Latest;
        awaitsKeyframe = config.sources().joinAt() == SourceOptions.JoinAt.KEYFRAME;
        ledger = sink.ledger();
        spareSlots = parts.spareSlots();
        bundle = new BundleTable(machine.stream());
    }

    /// The machine knows where this receiver begins.
    ///
    /// @param firstReportedId frames from this one on, which were published before, are reported lost
    void start(final long firstReportedId) {
        ledger.start(machine.startSequence());
        sink.onCredit(ledger.creditLimit());
        losses.add(firstReportedId, machine.nextFrameId() - firstReportedId, LossReason.NOT_A_MEMBER);
    }

    /// Whether it waits for the device, or for room at the subscriber.
    boolean mustLook() {
        return drainingCount > 0 || pending != null || blocked || (!losses.isFlushed() && !losses.hasRoom());
    }

    /// Whether everything that the machine gave out or gave up was handed on.
    boolean isEmpty() {
        return pending == null
                && bundle.remaining() == 0
                && losses.isFlushed()
                && (begunReported || machine.state() != State.LOST);
    }

    /// Whether memory is still in the subscriber's hands.
    boolean isHeld() {
        return ledger.framesHeld() > 0;
    }

    /// Slots of frames that were given out, or given up behind such, and are not free yet.
    long heldSlots() {
        return machine.nextFrameSequence() - ledger.releasedSequence();
    }

    /// Hands over what is whole.
    ///
    /// @return frames
    int deliver(final long nowNs) {
        int work = 0;
        dropOutdated(nowNs);
        while (true) {
            final ReceivedFrame frame = pending == null ? next(nowNs) : pending;
            if (frame == null) {
                break;
            }
            pending = frame;
            if (awaitsKeyframe && !isBeginning(frame, nowNs)) {
                break;
            }
            final boolean torn = pending != null && latest && isTorn(frame);
            if (pending != null && (torn ? !losses.hasRoom() : !handOver(frame, nowNs))) {
                break;
            }
            if (torn) {
                drop(frame, LossReason.AWAITS_KEYFRAME, nowNs);
            }
            pending = null;
            work++;
        }
        reportBegun();
        return work;
    }

    // The source is lost, and with it the rest of frames that had begun to arrive; all whole ones were handed
    // over.
    private void reportBegun() {
        if (begunReported || machine.state() != State.LOST || pending != null || machine.nextFrameBytes() > 0) {
            return;
        }
        begunReported = true;
        final long begun = machine.begunFrames();
        losses.add(machine.nextFrameId(), begun - machine.nextFrameId(), LossReason.UNREPAIRABLE);
        final LossReason rest = machine.isEvicted() ? LossReason.NOT_A_MEMBER : LossReason.UNREPAIRABLE;
        losses.add(begun, machine.knownFrames() - begun, rest);
        tellLosses();
    }

    // Before the first keyframe frames are dropped; what was dropped is told before it.
    //
    // Returns false where that must wait for room.
    private boolean isBeginning(final ReceivedFrame frame, final long nowNs) {
        if (!isKeyframe(frame)) {
            pending = null;
            ledger.release(place);
            losses.add(frame.frameId(), 1, LossReason.AWAITS_KEYFRAME);
            credit(nowNs);
            return true;
        }
        awaitsKeyframe = !losses.flush();
        return !awaitsKeyframe;
    }

    // What could not be handed over is judged anew: under a policy it may be out of date by now. What only has to
    // arrive is not passed over for what is newer, which has to arrive as well: there would always be such.
    private void dropOutdated(final long nowNs) {
        final ReceivedFrame frame = pending;
        if (frame == null || !losses.hasRoom()) {
            return;
        }
        if (clock.isExpired(frame.timestampNs(), nowNs)) {
            drop(frame, LossReason.EXPIRED, nowNs);
        } else if (latest && !keyed && !arriving && (bundle.remaining() > 0 || isNewerWhole(nowNs))) {
            drop(frame, LossReason.SUPERSEDED, nowNs);
        }
    }

    // The machine does not see which of the frames in a bundle are keyframes.
    private boolean isTorn(final ReceivedFrame frame) {
        return keyed && !isKeyframe(frame) && frame.frameId() != continuesId;
    }

    private static boolean isKeyframe(final ReceivedFrame frame) {
        return (frame.flags() & DataLayout.FLAG_KEYFRAME) != 0;
    }

    private boolean isNewerWhole(final long nowNs) {
        machine.passOver(nowNs);
        return machine.nextFrameBytes() > 0;
    }

    private void drop(final ReceivedFrame frame, final LossReason reason, final long nowNs) {
        pending = null;
        ledger.release(place);
        losses.offer(frame.frameId(), 1, reason);
        credit(nowNs);
    }

    // The next frame of the bundle that is being handed out, or of the machine.
    private @Nullable ReceivedFrame next(final long nowNs) {
        while (bundle.remaining() == 0) {
            machine.passOver(nowNs);
            if (!tellLosses()) {
                return null;
            }
            blocked = isBlocked();
            final ReceivedFrame frame = blocked ? null : machine.pollFrame();
            if (frame == null) {
                return null;
            }
            final int count = frame.bundleFrames();
            final long slots = StreamInfo.slots(frame.bytes(), machine.stream().slotBytes());
            place = ledger.deliver(frame.firstSequence(), slots, Math.max(1, count));
            sink.take(frame);
            if (count == 0) {
                return frame;
            }
            openBundle(frame, nowNs);
        }
        return bundle.next();
    }

    private boolean isBlocked() {
        final long bytes = machine.nextFrameBytes();
        final long slots = StreamInfo.slots(bytes, machine.stream().slotBytes());
        return bytes > 0 && !ledger.canDeliver(machine.nextFrameSequence(), slots);
    }

    // What was lost is told before what comes behind it; else when the subscriber has heard of all the rest.
    private boolean tellLosses() {
        final boolean due = machine.nextFrameBytes() > 0 || losses.isEmpty() || machine.state() != State.RECEIVING;
        if (!due || losses.isFlushed()) {
            return true;
        }
        final boolean told = losses.flush();
        exchange.subscriber().wake();
        return told;
    }

    private void openBundle(final ReceivedFrame frame, final long nowNs) {
        final int count = frame.bundleFrames();
        if (isOpened(frame, count)) {
            return;
        }
        // Its frames are lost, for nobody knows where they begin; the stream goes on.
        releaseUnseen(count);
        losses.add(frame.frameId(), count, LossReason.DAMAGED);
        credit(nowNs);
    }

    // A device that is lost while its table is read gives none of its frames out.
    private boolean isOpened(final ReceivedFrame frame, final int count) {
        try {
            return sink.openBundle(frame, bundle);
        } catch (final RuntimeException e) {
            releaseUnseen(count);
            throw e;
        }
    }

    private void releaseUnseen(final int count) {
        for (int i = 0; i < count; i++) {
            ledger.release(place);
        }
    }

    private boolean handOver(final ReceivedFrame frame, final long nowNs) {
        // Before any is taken back for it: the subscriber would find nothing meanwhile.
        arriving = sink.isArriving();
        if (arriving) {
            return false;
        }
        if (latest && supersedes(frame)) {
            takeBackWaiting(nowNs);
        }
        final EngineFrame object = exchange.take();
        if (object == null) {
            return false;
        }
        final PostedBuffers.Posted target = posted.peek(frame.bytes());
        final DeviceRegion region = place(frame, target, object.ready());
        if (region == null) {
            exchange.recycle(object);
            return false;
        }
        if (target != null) {
            posted.take();
        }
        object.fill(frame, region, sink.lastDelivery());
        object.held(place, target);
        continuesId = frame.frameId() + 1;
        exchange.deliver(object);
        return true;
    }

    private @Nullable DeviceRegion place(
            final ReceivedFrame frame, final PostedBuffers.@Nullable Posted target, final DeviceEvent ready) {
        try {
            return sink.deliver(frame, target == null ? null : target.region(), ready);
        } catch (final IllegalStateException e) {
            if (target == null || posted.peek(frame.bytes()) == target) {
                throw e;
            }
            // The owner of the buffer closed its arena meanwhile; the frame takes the next one in the next cycle.
            return null;
        }
    }

    private boolean supersedes(final ReceivedFrame frame) {
        keyed |= isKeyframe(frame);
        return !keyed || isKeyframe(frame);
    }

    // Frames that the subscriber has not polled yet, the oldest first, while there is room to tell of them.
    private void takeBackWaiting(final long nowNs) {
        long firstId = 0;
        long count = 0;
        boolean any = false;
        while (losses.hasRoom()) {
            final EngineFrame frame = exchange.takeBack();
            if (frame == null) {
                break;
            }
            any = true;
            final long id = frame.frameId();
            release(frame);
            if (count > 0 && id != firstId + count) {
                losses.offer(firstId, count, LossReason.SUPERSEDED);
                count = 0;
            }
            firstId = count == 0 ? id : firstId;
            count++;
        }
        if (count > 0) {
            losses.offer(firstId, count, LossReason.SUPERSEDED);
        }
        if (any) {
            credit(nowNs);
        }
    }

    /// The machine gave frames up: memory follows.
    ///
    /// @return sequences below this have a slot now
    long onGivenUp(final GivenUp givenUp) {
        final long jumped = ledger.skip(givenUp.firstSequence(), givenUp.endSequence());
        sink.skip(givenUp.firstSequence(), givenUp.endSequence(), jumped);
        sink.onCredit(ledger.creditLimit());
        losses.add(givenUp.firstFrameId(), givenUp.frames(), Policies.reason(givenUp.reason()));
        return ledger.creditLimit() - spareSlots;
    }

    /// Takes back what the subscriber released.
    int takeBack(final long nowNs) {
        int work = 0;
        EngineFrame frame = exchange.nextReturned();
        while (frame != null) {
            // Before its stream is asked: a device that is lost answers with an exception, and the frame must be
            // in some list then.
            draining[drainingCount++] = frame;
            if (frame.isConsumed()) {
                drainingCount--;
                release(frame);
                work++;
            }
            frame = exchange.nextReturned();
        }
        work += releaseConsumed();
        if (work > 0 && machine.state() == State.RECEIVING) {
            if (isRingEmpty()) {
                sink.rewind(machine.acknowledgedSequence());
            }
            credit(nowNs);
        }
        return work;
    }

    // Looks at some of those that a stream still works with, in turn: asking a device costs more than anything
    // else here.
    private int releaseConsumed() {
        int work = 0;
        for (int looks = Math.min(drainingCount, LOOKS_MAX); looks > 0; looks--) {
            if (drainingNext >= drainingCount) {
                drainingNext = 0;
            }
            if (draining[drainingNext].isConsumed()) {
                release(draining[drainingNext]);
                draining[drainingNext] = draining[--drainingCount];
                work++;
            } else {
                drainingNext++;
            }
        }
        return work;
    }

    private void credit(final long nowNs) {
        sink.onCredit(ledger.creditLimit());
        machine.onCredit(ledger.creditLimit() - spareSlots, nowNs);
    }

    // Every frame was given back, and nothing has arrived behind the last.
    private boolean isRingEmpty() {
        final long next = machine.acknowledgedSequence();
        return ledger.framesHeld() == 0
                && machine.nextFrameSequence() == next
                && machine.expectedSequence() == next
                && machine.missing() == 0;
    }

    private void release(final EngineFrame frame) {
        ledger.release(frame.place());
        if (frame.inMendBuffer()) {
            sink.mendReleased();
        }
        final PostedBuffers.Posted buffer = frame.unusedBuffer();
        if (buffer != null) {
            posted.giveBack(buffer);
        }
        frame.onRecycled();
        exchange.recycle(frame);
    }

    /// Takes back what was released, and what was delivered and never polled, after the subscriber closed.
    void drain() {
        takeBack(0);
        EngineFrame frame = exchange.takeBack();
        while (frame != null) {
            release(frame);
            frame = exchange.takeBack();
        }
        // What was not handed over, and what is left of a bundle, is handed out by nobody any more.
        releaseUnseen((pending == null ? 0 : 1) + bundle.remaining());
        pending = null;
        bundle.clear();
    }
}
