package io.framecast.engine.sink;

import io.framecast.api.spi.Completions;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.ReceiveRing;
import io.framecast.api.spi.TransportCapabilities.Placement;
import io.framecast.reliability.BundleTable;
import io.framecast.reliability.ReceivedFrame;
import io.framecast.reliability.ReceiverMachine;
import io.framecast.reliability.placement.FifoLedger;
import io.framecast.reliability.placement.FifoPlacement;
import io.framecast.reliability.placement.FrameLedger;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Verdict;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// Frames in memory that the transport lands in, the host's or a device's, by placement in order of arrival:
/// each datagram lands in the slot that was posted first, so a frame that loses nothing is in place and is
/// never copied. A frame that loses something has its repairs put into a mend buffer, and what had landed of
/// it copied there when it is whole; its slots are free at once.
public final class FifoSink implements PayloadSink {
    // Batches taken in one poll while the lane keeps filling them: other work waits no longer than this.
    // Frames that are mended beside the oldest: many where they are short, for each waits for a round trip.
    private static final long LATER_BYTES = 2L << 20;
    private static final long LATER_MAX = 16;

    private static final int ROUNDS_MAX = 16;

    private final SinkConfig config;
    private final Arena arena = Arena.ofShared();
    private final FifoMemory memory;
    private final MemorySegment headers;
    private final long mendBytes;
    private final ReceiveRing dataRing;
    private final RepairRing repairs;
    private final Completions completions;
    private final DataRuns runs;
    private final FifoPlacement placement;
    private final FifoLedger ledger;
    private final int slotBytes;
    private @Nullable Lane dataLane;
    private @Nullable Lane repairLane;
    private int receiveSlots;
    // Where the frame or bundle lies that the machine gave out last: in the ring, or in the mend buffers.
    private long takenOffset;
    private boolean takenMended;
    private long mendedBytes;
    private Delivery lastDelivery = Delivery.IN_PLACE;

    /// Makes a sink in host memory; its rings are not posted yet.
    ///
    /// @param framesHeld that its user may hold at a time and wait for one more
    public static FifoSink inHost(final SinkConfig config, final int framesHeld) {
        return new FifoSink(config, framesHeld, new FifoHostMemory(config, mendBytes(config, framesHeld)));
    }

    /// As [#inHost], in memory of a device that the transport's NIC writes.
    ///
    /// @throws io.framecast.api.error.DeviceException when the memory cannot be had, or not be exported
    public static FifoSink inDevice(final SinkConfig config, final int framesHeld) {
        return new FifoSink(config, framesHeld, new FifoDeviceMemory(config, mendBytes(config, framesHeld)));
    }

    private FifoSink(final SinkConfig config, final int framesHeld, final FifoMemory owned) {
        this.config = config;
        slotBytes = config.slotBytes();
        mendBytes = mendBytes(config);
        final int mendBuffers = mendBuffers(config, framesHeld);
        completions = new Completions(config.batchMax());
        try (Opened opened = new Opened()) {
            opened.add(arena);
            memory = opened.add(owned);
            headers = arena.allocate((long) config.ringSlots() * config.headerStride(), 64);
            runs = new DataRuns(config, headers, memory.hostRing(), config.ringSlots());
            dataRing = new ReceiveRing(
                    headers, DataLayout.LENGTH, config.headerStride(), memory.ring(), slotBytes, config.ringSlots());
            repairs = new RepairRing(config, SinkConfig.REPAIR_SLOTS_POSTED, arena, memory.repairPayload());
            placement = new FifoPlacement(
                    config.ringSlots(),
                    mendBuffers,
                    laterMax(config),
                    tableSlots(config.ringSlots()),
                    memory.mappedTwice());
            ledger = new FifoLedger(placement, config.ringSlots() + mendBuffers, this::copyRun);
            opened.keep();
        }
    }

    /// What the ring takes of a device that the NIC writes.
    public static long deviceRingBytes(final SinkConfig config) {
        return FifoDeviceMemory.ringBytes(config);
    }

    /// Length of all mend buffers: for each frame that the user holds, the oldest that is under repair, and
    /// some
    /// later ones.
    public static long mendBytes(final SinkConfig config, final int framesHeld) {
        return mendBuffers(config, framesHeld) * mendBytes(config);
    }

    // Who holds as many frames as it may, all of them mended, and waits for one more, must not wait for a
    // buffer that
    // only it can give back.
    private static int mendBuffers(final SinkConfig config, final int framesHeld) {
        return framesHeld + 1 + laterMax(config);
    }

    private static int laterMax(final SinkConfig config) {
        return (int) Math.clamp(LATER_BYTES / mendBytes(config), 1, LATER_MAX);
    }

    // Of one, in whole slots.
    private static long mendBytes(final SinkConfig config) {
        return config.stream().frameMaxSlots() * config.slotBytes();
    }

    private static int tableSlots(final int ringSlots) {
        return Math.max(64, Integer.highestOneBit(2 * ringSlots - 1));
    }

    @Override
    public ReceiveRing dataRing() {
        return dataRing;
    }

    @Override
    public ReceiveRing repairRing() {
        return repairs.ring();
    }

    @Override
    public @Nullable PullSlots pulls() {
        return repairs.pulls();
    }

    @Override
    public void attach(final Lane data, final Lane repair, final Placement lanePlacement) {
        if (lanePlacement != Placement.BY_ARRIVAL) {
            throw new IllegalStateException("placement by arrival needs a transport that takes slots in order");
        }
        dataLane = data;
        repairLane = repair;
        post(data);
        receiveSlots = Math.max(1, placement.postedFree() - config.spareSlots());
    }

    /// What the lane holds posted at most: more than that cannot be under way.
    @Override
    public int receiveSlots() {
        return receiveSlots;
    }

    @Override
    public FrameLedger ledger() {
        return ledger;
    }

    @Override
    public void onCredit(final long limit) {
        // Whatever arrives takes the next slot, whatever was granted.
    }

    @Override
    public int poll(final ReceiverMachine machine, final long nowNs) {
        askAgain(machine, nowNs);
        int count = 0;
        for (int round = 0; round < ROUNDS_MAX; round++) {
            final int batch = pollData(machine, nowNs);
            count += batch;
            if (batch == 0) {
                break;
            }
        }
        // Behind the data lane: a repair asked for too early must not win over the original that has
        // arrived meanwhile.
        count += repairs.isDue(machine, count, nowNs) ? pollRepairs(machine, nowNs) : 0;
        if (machine.state() == ReceiverMachine.State.RECEIVING) {
            machine.onCredit(placement.creditLimit() - config.spareSlots(), nowNs);
        }
        return count;
    }

    // Frames that waited for a mend buffer, and have one now; and how many more may be asked for.
    private void askAgain(final ReceiverMachine machine, final long nowNs) {
        long first = placement.takeRoom();
        while (first != FifoPlacement.NONE) {
            machine.repairRequests().hasten(first, placement.takenSlots(), nowNs);
            first = placement.takeRoom();
        }
        machine.repairRequests().room(placement.roomFrames(), placement.roomSlots(), nowNs);
    }

    private void post(final Lane data) {
        int run = memory.isRingQuiet() ? placement.repostRun() : 0;
        while (run > 0) {
            final int accepted = data.post(placement.repostSlot(), run);
            placement.repost(accepted);
            run = accepted < run ? 0 : placement.repostRun();
        }
    }

    private int pollData(final ReceiverMachine machine, final long nowNs) {
        final Lane data = Objects.requireNonNull(dataLane);
        if (!PayloadSink.listens(machine.state())) {
            return 0;
        }
        post(data);
        completions.clear();
        final int count = data.poll(completions);
        if (count == 0 && placement.postedFree() > 0) {
            machine.onDrained(nowNs);
        }
        for (int i = 0; i < count; i++) {
            placement.land(completions.slot(i));
            final long sequence = accept(machine, i, nowNs);
            if (sequence < 0) {
                placement.reject();
                continue;
            }
            placement.accept(sequence);
            final int following = runs.follow(machine, completions, i, nowNs);
            runs.keep(machine, completions, i, following + 1, sequence);
            for (int ahead = 1; ahead <= following; ahead++) {
                placement.land(completions.slot(i + ahead));
                placement.accept(sequence + ahead);
            }
            i += following;
        }
        return count;
    }

    private long accept(final ReceiverMachine machine, final int index, final long nowNs) {
        if (config.loss().drop()) {
            return ReceiverMachine.NO_SEQUENCE;
        }
        return machine.onData(headers, runs.headerOffset(completions.slot(index)), completions.bytes(index), nowNs)
                        == Verdict.GOOD
                ? machine.acceptedSequence()
                : ReceiverMachine.NO_SEQUENCE;
    }

    private int pollRepairs(final ReceiverMachine machine, final long nowNs) {
        final int count = repairs.poll(Objects.requireNonNull(repairLane), Placement.BY_ARRIVAL);
        for (int i = 0; i < count; i++) {
            if (!repairs.isLost(i)) {
                repair(machine, i, nowNs);
            }
        }
        memory.repairsTaken(repairs.consumed(), repairs.pulled());
        repairs.freeUpTo(memory.receivedCopied(), memory.pulledCopied());
        return count;
    }

    // A place first: a repair that finds none must count as not received.
    private void repair(final ReceiverMachine machine, final int index, final long nowNs) {
        final MemorySegment header = repairs.headers();
        final long offset = repairs.headerOffset(index);
        if (!machine.wantsRepair(header, offset, repairs.bytes(index))) {
            if (repairs.take(machine, index, nowNs)) {
                throw new IllegalStateException("the machine took a repair it did not want");
            }
            return;
        }
        final long frameIndex = DataLayout.frameIndex(header, offset);
        final long first = DataLayout.sequence(header, offset) - frameIndex;
        final long slots = StreamInfo.slots(DataLayout.frameBytes(header, offset), slotBytes);
        final int buffer = placement.placeRepair(first, slots);
        if (buffer == FifoPlacement.NONE) {
            machine.repairRequests().defer(first, slots, nowNs + placement.patienceNs(first));
            return;
        }
        if (repairs.take(machine, index, nowNs)) {
            placement.repaired(machine.acceptedSequence());
            final long to = buffer * mendBytes + frameIndex * slotBytes;
            final int bytes = repairs.payloadBytes(index);
            memory.copyRepair((long) repairs.slot(index) * slotBytes, to, bytes);
            mendedBytes += bytes;
        }
    }

    private void copyRun(final int fromSlot, final int mendBuffer, final long frameIndex, final int slots) {
        final long bytes = (long) slots * slotBytes;
        final long to = mendBuffer * mendBytes + frameIndex * slotBytes;
        memory.copyRun((long) fromSlot * slotBytes, to, bytes);
        mendedBytes += bytes;
    }

    @Override
    public void take(final ReceivedFrame frame) {
        final long handle = ledger.lastHandle();
        takenMended = handle < 0;
        takenOffset = takenMended ? (-1 - handle) * mendBytes : (long) placement.slotOf(handle) * slotBytes;
    }

    @Override
    public void skip(final long firstSequence, final long endSequence, final long jumped) {
        // The ledger has freed what had landed.
    }

    @Override
    public boolean openBundle(final ReceivedFrame bundle, final BundleTable table) {
        return memory.openBundle(takenMended, takenOffset, bundle, table);
    }

    @Override
    public DeviceRegion deliver(
            final ReceivedFrame frame, final @Nullable DeviceRegion target, final DeviceEvent ready) {
        final long offset = takenOffset + frame.slotOffset();
        lastDelivery = takenMended || target != null ? Delivery.MENDED : Delivery.IN_PLACE;
        if (target == null) {
            memory.record(ready);
            return memory.at(takenMended, offset, frame.bytes());
        }
        memory.copyTo(target, takenMended, offset, frame.bytes());
        memory.record(ready);
        mendedBytes += frame.bytes();
        return target.slice(0, frame.bytes());
    }

    @Override
    public void rewind(final long next) {
        // What is posted stays posted.
    }

    @Override
    public boolean isCopying() {
        return memory.isCopying();
    }

    @Override
    public Delivery lastDelivery() {
        return lastDelivery;
    }

    @Override
    public void mendReleased() {
        // The ledger knows which frames lie in mend buffers.
    }

    @Override
    public long mendedBytes() {
        return mendedBytes;
    }

    @Override
    public long refusedRepairs() {
        return placement.refusedRepairs();
    }

    @Override
    public void close() {
        CloseHelper.closeAll(memory, arena);
    }
}
