package io.framecast.reliability.session;

import io.framecast.reliability.assembly.Assembly;
import io.framecast.reliability.assembly.RepairSlots;
import io.framecast.reliability.assembly.SlotMemory;
import io.framecast.reliability.lane.DataOpener;
import io.framecast.reliability.lane.LanePort;
import io.framecast.reliability.membership.Progress;
import io.framecast.reliability.onesided.RemoteWindows;
import io.framecast.reliability.receive.LossReason;
import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.receive.ReceiverMachine.State;
import io.framecast.reliability.window.RepairStore;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.LeaveLayout.Reason;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Verdict;
import org.jspecify.annotations.Nullable;

/// A receiver's part in one session: in each cycle it takes back released frames, polls its lanes, validates each
/// datagram, puts payloads in place, delivers whole frames, and grants credit.
///
/// No I/O, clock or thread of its own: [#doWork] by one thread, times in nanoseconds since the engine's start.
/// Lanes, memory and consumer are the caller's.
public final class ReceiveSession implements Progress {
    // Batches taken in one cycle while the lane keeps filling them: other work waits no longer than this.
    private static final int ROUNDS_MAX = 16;
    private static final long REPAIR_INTERVAL_NS = 200_000;

    private final ReceiverMachine machine;
    private final Assembly assembly;
    private final RepairSlots repairs;
    private final SlotMemory dataSlots;
    private final SlotMemory repairSlots;
    private final LanePort dataLane;
    private final LanePort repairLane;
    private @Nullable RemoteWindows windows;
    private final FrameConsumer consumer;
    private final FrameDelivery delivery;
    private final int headerBytes;
    private final int fullBytes;
    private @Nullable DataOpener opener;
    // Datagrams of the batch, from its first on, that were opened.
    private int opened;
    private boolean started;
    private long firstFrameId;
    // Frames from this one on were published since an earlier membership in this session; MAX_VALUE without
    // one.
    private long resumeFromId = Long.MAX_VALUE;
    private long standstillNs;
    private long repairsDueNs;

    /// @param assembly prepared over the data lane
    /// @param repairs over the same memory
    /// @param policy the subscriber's
    public ReceiveSession(
            final ReceiverMachine machine,
            final Assembly assembly,
            final RepairSlots repairs,
            final LanePort dataLane,
            final LanePort repairLane,
            final FrameConsumer consumer,
            final Delivery policy) {
        this.machine = machine;
        this.assembly = assembly;
        this.repairs = repairs;
        this.dataLane = dataLane;
        this.repairLane = repairLane;
        this.consumer = consumer;
        dataSlots = assembly.slotMemory();
        repairSlots = repairs.slotMemory();
        headerBytes = machine.stream().headerBytes();
        fullBytes = headerBytes + machine.stream().slotBytes();
        delivery = new FrameDelivery(machine, assembly, consumer, policy);
    }

    /// Before the first cycle: missing datagrams are read out of windows and replicas.
    ///
    /// @param made null where the transport has no one-sided operations
    public ReceiveSession readBy(final @Nullable RemoteWindows made) {
        windows = made;
        if (made != null) {
            made.attach(machine);
        }
        return this;
    }

    /// Before the first cycle: frames before the first keyframe are dropped, if that is set.
    public ReceiveSession joinAtKeyframe(final boolean value) {
        delivery.awaitKeyframe(value);
        return this;
    }

    /// Before the first cycle: datagrams count when they were opened.
    public ReceiveSession openedBy(final DataOpener made) {
        opener = made;
        return this;
    }

    public ReceiverMachine machine() {
        return machine;
    }

    public Assembly assembly() {
        return assembly;
    }

    /// Before the receiver is a member: frames from this one on are reported lost, up to the start of its
    /// membership.
    public void resumeFrom(final long frameId) {
        resumeFromId = frameId;
    }

    @Override
    public State state() {
        return machine.state();
    }

    @Override
    public Reason lostReason() {
        return machine.lostReason();
    }

    @Override
    public long silenceNs() {
        return machine.silenceNs();
    }

    @Override
    public boolean isStarted() {
        return started;
    }

    /// Number of the first frame, once the receiver is a member.
    public long firstFrameId() {
        return firstFrameId;
    }

    /// The first frame that is delivered or reported lost, once the receiver is a member.
    public long firstReportedId() {
        return Math.min(resumeFromId, firstFrameId);
    }

    @Override
    public long nextFrameId() {
        return Math.max(machine.nextFrameId(), machine.knownFrames());
    }

    @Override
    public boolean isEnded() {
        return isOver() && (!started || (delivery.isEmpty() && machine.nextFrameBytes() == 0));
    }

    private boolean isOver() {
        return machine.state() == State.ENDED || machine.state() == State.LOST;
    }

    /// Whether the session waits for a device, or for room at the consumer, without an event for the end of the
    /// wait.
    public boolean isWaiting() {
        return delivery.isWaiting() || assembly.isCopying() || (windows != null && windows.isBusy());
    }

    /// How long this process stood still before the last cycle, in nanoseconds; else 0.
    public long standstillNs() {
        return standstillNs;
    }

    /// The time at which [#doWork] has something to do besides the datagrams that arrive.
    public long nextDeadlineNs() {
        return isOver() && !isEnded() && !isWaiting() ? 0 : machine.nextDeadlineNs();
    }

    /// One cycle.
    ///
    /// @return work done: datagrams, frames, timers
    public int doWork(final long nowNs) {
        int work = windows == null ? 0 : windows.poll(nowNs);
        standstillNs = machine.onCycle(nowNs);
        if (!started && machine.state() == State.RECEIVING) {
            start();
        }
        work += takeBack(nowNs);
        work += poll(nowNs);
        if (started) {
            work += delivery.deliver(nowNs);
            delivery.credit(nowNs);
        }
        if (machine.nextDeadlineNs() <= nowNs) {
            work += machine.onTick(nowNs);
        }
        return work;
    }

    private void start() {
        started = true;
        firstFrameId = machine.nextFrameId();
        assembly.start(machine.startSequence());
        if (resumeFromId < firstFrameId) {
            consumer.onLoss(resumeFromId, firstFrameId - resumeFromId, LossReason.NOT_A_MEMBER);
        }
    }

    /// Takes back frames that the user released; part of [#doWork], and to be called alone after the receiver has
    /// left.
    ///
    /// @return frames
    public int takeBack(final long nowNs) {
        int work = 0;
        for (long place = consumer.nextReleased(); place != FrameConsumer.NO_PLACE; place = consumer.nextReleased()) {
            assembly.release(place);
            work++;
        }
        if (work > 0 && machine.state() == State.RECEIVING) {
            if (isRingEmpty()) {
                assembly.rewind(machine.acknowledgedSequence());
            }
            delivery.credit(nowNs);
        }
        return work;
    }

    // Every frame was given back, and nothing has arrived behind the last.
    private boolean isRingEmpty() {
        final long next = machine.acknowledgedSequence();
        return assembly.framesHeld() == 0
                && machine.nextFrameSequence() == next
                && machine.expectedSequence() == next
                && machine.missing() == 0;
    }

    private int poll(final long nowNs) {
        assembly.renew(machine.repairRequests(), nowNs);
        int taken = 0;
        for (int round = 0; round < ROUNDS_MAX; round++) {
            final int batch = pollData(nowNs);
            taken += batch;
            if (batch == 0) {
                break;
            }
        }
        // Behind the data lane: a repair requested too early must not win over the original that arrived meanwhile.
        return areRepairsDue(taken, nowNs) ? taken + pollRepairs(nowNs) : taken;
    }

    private int pollData(final long nowNs) {
        if (!isListening(machine.state())) {
            return 0;
        }
        final int count = assembly.poll(dataLane, machine.state() == State.RECEIVING ? machine : null);
        if (count <= 0) {
            if (count == 0) {
                machine.onDrained(nowNs);
            }
            return 0;
        }
        opened = 0;
        for (int i = 0; i < count; ) {
            i += accept(i, count, nowNs);
        }
        assembly.endBatch();
        return count;
    }

    // Between probe and START the data lane is not polled. The source may send at once the frames that START
    // announces on another lane, and they must not be rejected as early. They wait in the transport, whose room
    // credit has counted. The lane is not polled at the end either: nothing is expected, and the user may hold the
    // whole ring.
    private static boolean isListening(final State state) {
        return switch (state) {
            case JOINING, PROBING, RECEIVING -> true;
            case STARTING, ENDED, LOST, REFUSED -> false;
        };
    }

    // Passes a datagram to the machine, and the datagrams that continue it in order as one run.
    private int accept(final int index, final int count, final long nowNs) {
        final int slot = dataLane.slot(index);
        final long header = dataSlots.headerOffset(slot);
        final int bytes = dataLane.bytes(index);
        if (!isOpen(index)) {
            machine.onForged();
            assembly.reject(slot);
            return 1;
        }
        if (machine.onData(dataSlots.headers(), header, bytes, nowNs) != Verdict.GOOD
                || machine.acceptedSequence() == ReceiverMachine.NO_SEQUENCE) {
            assembly.reject(slot);
            return 1;
        }
        final long sequence = machine.acceptedSequence();
        final int limit = Math.min(count - index, dataSlots.slots() - slot);
        int run = 1;
        while (run < limit
                && dataLane.bytes(index + run) == fullBytes
                && dataLane.slot(index + run) == slot + run
                && isOpen(index + run)) {
            run++;
        }
        if (run > 1) {
            run = 1 + machine.onRun(dataSlots.headers(), header, dataSlots.headerStride(), run - 1, nowNs);
        }
        keep(dataSlots, slot, sequence, run, bytes - headerBytes);
        assembly.accept(slot, sequence, run, bytes - headerBytes);
        return run;
    }

    // Opens a datagram of the batch, and only once: opening decrypts it.
    private boolean isOpen(final int index) {
        final DataOpener by = opener;
        if (by == null || index < opened) {
            return true;
        }
        final boolean valid = open(by, dataSlots, dataLane.slot(index), dataLane.bytes(index));
        opened = valid ? index + 1 : opened;
        return valid;
    }

    private boolean open(final DataOpener by, final SlotMemory from, final int slot, final int bytes) {
        return bytes >= headerBytes
                && bytes - headerBytes <= from.slotBytes()
                && by.open(
                        from.headers(),
                        from.headerOffset(slot),
                        from.payload(),
                        from.payloadOffset(slot),
                        bytes - headerBytes);
    }

    // Copies accepted datagrams from their slots to a co-root's replica of the window.
    private void keep(
            final SlotMemory from, final int slot, final long sequence, final int count, final int firstBytes) {
        final RepairStore store = machine.store();
        if (store == null || !machine.mayKeep()) {
            return;
        }
        for (int i = 0; i < count; i++) {
            if (store.wants(sequence + i)) {
                final int bytes = i == 0 ? firstBytes : from.slotBytes();
                store.putPayload(sequence + i, from.payload(), from.payloadOffset(slot + i), bytes);
                if (opener != null) {
                    opener.reseal(
                            from.headers(),
                            from.headerOffset(slot + i),
                            store.payloads(),
                            (long) store.slot(sequence + i) * store.slotBytes(),
                            bytes);
                }
                store.putHeader(sequence + i, from.headers(), from.headerOffset(slot + i));
                machine.onStored(sequence + i);
            }
        }
    }

    // Repairs are expected, or there is nothing better to do. While data comes in order, repairs that other
    // receivers requested can wait.
    private boolean areRepairsDue(final int taken, final long nowNs) {
        final boolean due = taken == 0 || machine.missing() > 0 || nowNs >= repairsDueNs;
        repairsDueNs = due ? nowNs + REPAIR_INTERVAL_NS : repairsDueNs;
        return due;
    }

    private int pollRepairs(final long nowNs) {
        final int count = repairs.poll(repairLane);
        for (int i = 0; i < count; i++) {
            repair(repairs.slot(i), repairs.bytes(i), nowNs);
        }
        if (count > 0) {
            repairs.endBatch();
        }
        return count;
    }

    // A place first: a repair without a place must count as not received.
    private void repair(final int slot, final int bytes, final long nowNs) {
        final long header = repairSlots.headerOffset(slot);
        final DataOpener by = opener;
        if (by != null && !open(by, repairSlots, slot, bytes)) {
            machine.onForged();
            return;
        }
        final boolean wanted = machine.wantsRepair(repairSlots.headers(), header, bytes);
        long frameIndex = 0;
        if (wanted) {
            frameIndex = DataLayout.FRAME_INDEX.unsigned(repairSlots.headers(), header);
            final long first = DataLayout.SEQUENCE.get(repairSlots.headers(), header) - frameIndex;
            final long slots = StreamInfo.slots(
                    DataLayout.FRAME_BYTES.unsigned(repairSlots.headers(), header), repairSlots.slotBytes());
            if (!assembly.reserve(first, slots, machine.repairRequests(), nowNs)) {
                return;
            }
        }
        if (machine.onRepair(repairSlots.headers(), header, bytes, nowNs) != Verdict.GOOD
                || machine.acceptedSequence() == ReceiverMachine.NO_SEQUENCE) {
            return;
        }
        if (!wanted) {
            throw new IllegalStateException("the machine took a repair it did not want");
        }
        final int payloadBytes = bytes - headerBytes;
        keep(repairSlots, slot, machine.acceptedSequence(), 1, payloadBytes);
        assembly.repaired(machine.acceptedSequence(), frameIndex, slot, payloadBytes);
    }

    /// Whether the user still holds frames.
    public boolean isHeld() {
        return assembly.framesHeld() > 0;
    }

    /// Takes back frames that were released, and frames that were delivered and never polled, after the consumer
    /// closed.
    public void drain() {
        takeBack(0);
        delivery.drain();
    }
}
