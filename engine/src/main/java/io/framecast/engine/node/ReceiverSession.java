package io.framecast.engine.node;

import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.Lane;
import io.framecast.engine.metrics.EngineCounter;
import io.framecast.engine.sink.PayloadSink;
import io.framecast.reliability.BundleTable;
import io.framecast.reliability.ReceivedFrame;
import io.framecast.reliability.ReceiverMachine;
import io.framecast.reliability.ReceiverMachine.State;
import io.framecast.reliability.placement.RingLedger;
import io.framecast.reliability.wire.StreamInfo;
import org.agrona.CloseHelper;
import org.agrona.concurrent.OneToOneConcurrentArrayQueue;
import org.jspecify.annotations.Nullable;

/// One subscription's part in one session: lanes, sink and protocol machine, and the frames between ring and
/// subscriber. Duty cycle in [#doWork], by the receiver's thread.
final class ReceiverSession implements AutoCloseable {
    /// Nobody acknowledges them, and any may be lost.
    static final int GOODBYES = 3;

    // Frames whose streams are asked in one cycle.
    private static final int LOOKS_MAX = 1024;

    private final ReceiverMachine machine;
    private final PayloadSink sink;
    private final Lane data;
    private final Lane repair;
    private final FrameExchange exchange;
    private final RingLedger ledger;
    private final BundleTable bundle;
    private final CounterBoard counters;
    private final OneToOneConcurrentArrayQueue<DeviceRegion> posted;
    // Released on a stream that is not done yet; bounded by the number of frames.
    private final EngineFrame[] draining = new EngineFrame[FrameExchange.FRAMES_MAX];
    private int drainingCount;
    private int drainingNext;
    private @Nullable ReceivedFrame pending;
    private boolean started;
    private long inPlaceFrames;
    private long frames;
    private long bytes;
    private long droppedFrames;

    /// Puts a session together; the lanes are open.
    ReceiverSession(final SessionParts parts, final FrameExchange exchange, final CounterBoard counters) {
        machine = parts.machine();
        sink = parts.sink();
        data = parts.data();
        repair = parts.repair();
        posted = parts.posted();
        this.exchange = exchange;
        ledger = new RingLedger(parts.ringSlots());
        bundle = new BundleTable(machine.stream());
        this.counters = counters;
        counters.receives(data, "data")
                .receives(repair, "repair")
                .verdicts(machine.verdicts())
                .add(EngineCounter.REPAIRS_RECEIVED, machine.counts()::repairedDatagrams)
                .add(EngineCounter.NACKS_SENT, machine.counts()::nacks)
                .add(EngineCounter.ACKS_SENT, machine.counts()::acks)
                .add(EngineCounter.FRAMES_DELIVERED, () -> frames)
                .add(EngineCounter.BYTES_DELIVERED, () -> bytes)
                .add(EngineCounter.FRAMES_IN_PLACE, () -> inPlaceFrames)
                .add(EngineCounter.MENDED_BYTES, sink::mendedBytes);
    }

    ReceiverMachine machine() {
        return machine;
    }

    PayloadSink sink() {
        return sink;
    }

    /// Frames that came and could not be handed out.
    long droppedFrames() {
        return droppedFrames;
    }

    Lane dataLane() {
        return data;
    }

    Lane repairLane() {
        return repair;
    }

    /// Whether it became a member.
    boolean isStarted() {
        return started;
    }

    /// Whether everything that will ever come was handed to the subscriber.
    boolean isEnded() {
        final boolean over = machine.state() == State.ENDED || machine.state() == State.LOST;
        return over && pending == null && bundle.remaining() == 0 && machine.nextFrameBytes() == 0;
    }

    /// When a timer is due.
    long nextDeadlineNs() {
        return machine.nextDeadlineNs();
    }

    /// Whether it waits for the device, or for room at the subscriber.
    boolean mustLook() {
        return drainingCount > 0 || pending != null || sink.isCopying();
    }

    /// One duty cycle.
    int doWork(final long nowNs) {
        int work = takeBack(nowNs);
        work += sink.poll(machine, nowNs);
        if (!started && machine.state() == State.RECEIVING) {
            started = true;
            ledger.start(machine.startSequence());
            sink.onCredit(ledger.creditLimit());
        }
        work += deliver(nowNs);
        if (machine.nextDeadlineNs() <= nowNs) {
            work += machine.onTick(nowNs);
        }
        counters.tick(nowNs);
        return work;
    }

    private int deliver(final long nowNs) {
        int work = 0;
        while (true) {
            final ReceivedFrame frame = pending == null ? next(nowNs) : pending;
            if (frame == null) {
                break;
            }
            pending = frame;
            if (!handOver(frame)) {
                break;
            }
            pending = null;
            work++;
        }
        return work;
    }

    // The next frame of the bundle that is being handed out, or of the machine.
    private @Nullable ReceivedFrame next(final long nowNs) {
        while (bundle.remaining() == 0) {
            final ReceivedFrame frame = machine.pollFrame();
            if (frame == null || frame.bundleFrames() == 0) {
                return frame;
            }
            openBundle(frame, nowNs);
        }
        return bundle.next();
    }

    private void openBundle(final ReceivedFrame frame, final long nowNs) {
        final int count = frame.bundleFrames();
        ledger.deliver(frame.firstSequence(), 1, count);
        if (sink.openBundle(frame, bundle)) {
            return;
        }
        // Its frames are lost, for nobody knows where they begin; the stream goes on.
        releaseUnseen(frame.firstSequence(), count);
        droppedFrames += count;
        credit(nowNs);
    }

    private void releaseUnseen(final long firstSequence, final int count) {
        for (int i = 0; i < count; i++) {
            ledger.release(firstSequence);
        }
    }

    private boolean handOver(final ReceivedFrame frame) {
        final EngineFrame object = exchange.take();
        if (object == null) {
            return false;
        }
        final DeviceRegion target = posted.peek();
        final boolean fits = target != null && target.bytes() >= frame.bytes();
        final DeviceRegion region = sink.deliver(frame, fits ? target : null, object.ready());
        if (region == null) {
            exchange.recycle(object);
            return false;
        }
        if (fits) {
            posted.poll();
        }
        if (!frame.isBundled()) {
            ledger.deliver(
                    frame.firstSequence(),
                    StreamInfo.slots(frame.bytes(), machine.stream().slotBytes()));
        }
        object.fill(frame, region, sink.lastDelivery());
        inPlaceFrames += sink.lastDelivery() == PayloadSink.Delivery.IN_PLACE ? 1 : 0;
        frames++;
        bytes += frame.bytes();
        exchange.deliver(object);
        return true;
    }

    private int takeBack(final long nowNs) {
        int work = 0;
        EngineFrame frame = exchange.nextReturned();
        while (frame != null) {
            if (frame.isConsumed()) {
                release(frame);
                work++;
            } else {
                draining[drainingCount++] = frame;
            }
            frame = exchange.nextReturned();
        }
        work += releaseConsumed();
        if (work > 0 && started) {
            if (isRingEmpty()) {
                sink.rewind(machine.acknowledgedSequence());
            }
            credit(nowNs);
        }
        return work;
    }

    // Looks at some of those that a stream still works with, in turn: asking a device costs more than anything else
    // here.
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
        machine.onCredit(ledger.creditLimit(), nowNs);
    }

    // Every frame was given back, and nothing has arrived behind the last.
    private boolean isRingEmpty() {
        final long next = machine.acknowledgedSequence();
        return ledger.framesHeld() == 0
                && pending == null
                && machine.state() == State.RECEIVING
                && machine.nextFrameSequence() == next
                && machine.expectedSequence() == next
                && machine.missing() == 0;
    }

    private void release(final EngineFrame frame) {
        ledger.release(frame.firstSequence());
        if (frame.inMendBuffer()) {
            sink.mendReleased();
        }
        exchange.recycle(frame);
    }

    /// Whether memory is still in the subscriber's hands.
    boolean isHeld() {
        return ledger.framesHeld() > 0;
    }

    /// Takes back what was released, and what was delivered and never polled, after the subscriber closed.
    void drain() {
        takeBack(0);
        EngineFrame frame = exchange.drain();
        while (frame != null) {
            release(frame);
            frame = exchange.drain();
        }
        // What is left of a bundle is handed out by nobody any more.
        if (bundle.remaining() > 0 || pending != null) {
            drainBundle();
        }
    }

    private void drainBundle() {
        final ReceivedFrame frame = pending == null ? bundle.next() : pending;
        pending = null;
        if (frame != null && frame.isBundled()) {
            releaseUnseen(frame.firstSequence(), 1 + bundle.remaining());
            bundle.clear();
        }
    }

    /// Says goodbye and closes the lanes; frames stay readable.
    void leave() {
        CloseHelper.closeAll(this::sayGoodbye, counters::publish, counters, repair, data);
    }

    private void sayGoodbye() {
        for (int i = 0; i < GOODBYES; i++) {
            machine.leave();
        }
    }

    /// Frees the memory.
    @Override
    public void close() {
        CloseHelper.closeAll(sink, exchange::close);
    }
}
