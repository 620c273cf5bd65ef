package io.framecast.engine.sink;

import io.framecast.api.spi.Completions;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.ReceiveRing;
import io.framecast.api.spi.TransportCapabilities.Placement;
import io.framecast.engine.memory.MirroredMemory;
import io.framecast.reliability.BundleTable;
import io.framecast.reliability.ReceivedFrame;
import io.framecast.reliability.ReceiverMachine;
import io.framecast.reliability.placement.FrameLedger;
import io.framecast.reliability.placement.RingLedger;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Verdict;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// Frames in host memory, by aimed placement: before each poll the lane is aimed at the slots of the
/// sequences expected next, so payloads land at their final address and nothing is copied. Loss misplaces at
/// most the batch in which it is noticed; that batch is set right by copies through scratch slots. The ring
/// is mapped twice, so a frame that wraps around its end is contiguous all the same; where that mapping
/// cannot be had such a frame is copied to a mend buffer.
public final class HostSink implements PayloadSink {
    // Batches taken in one poll while the lane keeps filling them: other work waits no longer than this.
    private static final int ROUNDS_MAX = 16;

    private final SinkConfig config;
    private final Arena arena = Arena.ofShared();
    private final MirroredMemory memory;
    private final MemorySegment ring;
    private final MemorySegment headers;
    private final MemorySegment scratch;
    private final @Nullable MemorySegment mend;
    private final ReceiveRing dataRing;
    private final RepairRing repairs;
    private final int batchMax;
    private final Completions completions;
    private final long[] misplaced;
    private final int[] misplacedBytes;
    private final DataRuns runs;
    private final SlotBits moved;
    private final int slotBytes;
    private @Nullable Lane dataLane;
    private @Nullable Lane repairLane;
    private long creditLimit;
    // The sequence whose slot is the first.
    private long origin;
    // First slot of the frame or bundle that the machine gave out last.
    private int takenSlot;
    private long mendedBytes;
    private Delivery lastDelivery = Delivery.IN_PLACE;
    private boolean mendBusy;

    public HostSink(final SinkConfig config) {
        this.config = config;
        slotBytes = config.slotBytes();
        batchMax = config.batchMax();
        completions = new Completions(batchMax);
        misplaced = new long[batchMax];
        misplacedBytes = new int[batchMax];
        try (Opened opened = new Opened()) {
            opened.add(arena);
            memory = opened.add(MirroredMemory.allocate(config.ringBytes(), 0));
            ring = memory.segment();
            headers = arena.allocate((long) config.ringSlots() * config.headerStride(), 64);
            scratch = arena.allocate((long) batchMax * slotBytes, 64);
            runs = new DataRuns(config, headers, ring, config.ringSlots());
            moved = new SlotBits(config.ringSlots());
            dataRing = new ReceiveRing(
                    headers,
                    DataLayout.LENGTH,
                    config.headerStride(),
                    DeviceRegion.ofHost(ring.asSlice(0, config.ringBytes())),
                    slotBytes,
                    config.ringSlots());
            repairs = new RepairRing(
                    config,
                    SinkConfig.REPAIR_SLOTS,
                    arena,
                    arena.allocate((long) (SinkConfig.REPAIR_SLOTS + config.pullSlots()) * slotBytes, 64));
            config.device().registerHost(ring);
            opened.add(() -> config.device().unregisterHost(ring));
            mend = memory.mirrored()
                    ? null
                    : config.device().allocate(config.stream().frameMaxBytes()).host();
            opened.keep();
        }
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
        if (lanePlacement != Placement.BY_SEQUENCE) {
            throw new IllegalStateException("aimed placement needs a transport that can be aimed");
        }
        dataLane = data;
        repairLane = repair;
    }

    @Override
    public FrameLedger ledger() {
        return new RingLedger(config.ringSlots());
    }

    @Override
    public void onCredit(final long limit) {
        creditLimit = limit;
    }

    @Override
    public int poll(final ReceiverMachine machine, final long nowNs) {
        int taken = 0;
        for (int round = 0; round < ROUNDS_MAX; round++) {
            final int batch = pollData(machine, nowNs);
            taken += batch;
            if (batch == 0) {
                break;
            }
        }
        // Behind the data lane: a repair asked for too early must not win over the original that has
        // arrived meanwhile.
        return taken + (repairs.isDue(machine, taken, nowNs) ? pollRepairs(machine, nowNs) : 0);
    }

    private int pollData(final ReceiverMachine machine, final long nowNs) {
        final Lane data = Objects.requireNonNull(dataLane);
        if (!PayloadSink.listens(machine.state())) {
            return 0;
        }
        final boolean receiving = machine.state() == ReceiverMachine.State.RECEIVING;
        final int posted = receiving ? aim(machine, data) : data.post(0, batchMax);
        if (posted == 0) {
            return 0;
        }
        completions.clear();
        final int count = data.poll(completions);
        if (count == 0) {
            machine.onDrained(nowNs);
        }
        int misplacedCount = 0;
        for (int i = 0; i < count; i++) {
            final long sequence = accept(machine, i, nowNs);
            if (sequence < 0) {
                continue;
            }
            // What continues a frame in order lies in place too, or as far from it.
            final int last = i + runs.follow(machine, completions, i, nowNs);
            runs.keep(machine, completions, i, last - i + 1, sequence);
            if (slot(sequence) == completions.slot(i)) {
                i = last;
                continue;
            }
            for (int ahead = 0; i <= last; i++, ahead++) {
                misplacedBytes[misplacedCount] = completions.bytes(i) - DataLayout.LENGTH;
                copySlot(ring, completions.slot(i), scratch, misplacedCount, misplacedBytes[misplacedCount]);
                misplaced[misplacedCount++] = sequence + ahead;
            }
            i = last;
        }
        for (int i = 0; i < misplacedCount; i++) {
            place(scratch, i, misplaced[i], misplacedBytes[i]);
        }
        return count;
    }

    // Before the probe nothing is expected and the ring is empty: then anything may land anywhere in it.
    private int aim(final ReceiverMachine machine, final Lane data) {
        final long expected = machine.expectedSequence();
        // The last slots are never granted, and so empty, where a source sends without credit.
        final long spare = creditLimit - config.spareSlots();
        if (expected > spare) {
            return data.post(slot(spare), Math.min(config.spareSlots(), batchMax));
        }
        final int slots = (int) Math.min(creditLimit - expected, batchMax);
        // What a repair brought ahead of the data lane must not be overwritten by a misplaced datagram.
        return data.post(slot(expected), machine.expectedRun(expected, slots));
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
        final int count = repairs.poll(Objects.requireNonNull(repairLane), Placement.BY_SEQUENCE);
        for (int i = 0; i < count; i++) {
            if (repairs.accept(machine, i, nowNs)) {
                place(repairs.payload(), repairs.slot(i), machine.acceptedSequence(), repairs.payloadBytes(i));
            }
        }
        repairs.freeUpTo(repairs.consumed(), repairs.pulled());
        return count;
    }

    private void place(final MemorySegment source, final int sourceSlot, final long sequence, final int bytes) {
        copySlot(source, sourceSlot, ring, slot(sequence), bytes);
        moved.set(slot(sequence));
        mendedBytes += bytes;
    }

    private void copySlot(
            final MemorySegment source,
            final int sourceSlot,
            final MemorySegment target,
            final int targetSlot,
            final int bytes) {
        MemorySegment.copy(source, (long) sourceSlot * slotBytes, target, (long) targetSlot * slotBytes, bytes);
    }

    @Override
    public void take(final ReceivedFrame frame) {
        takenSlot = slot(frame.firstSequence());
    }

    @Override
    public void skip(final long firstSequence, final long endSequence, final long jumped) {
        if (!moved.isEmpty()) {
            clearMoved(slot(firstSequence), Math.min(endSequence - firstSequence, config.ringSlots()));
        }
        origin += jumped;
    }

    @Override
    public boolean openBundle(final ReceivedFrame bundle, final BundleTable table) {
        return table.open(ring, (long) takenSlot * slotBytes + bundle.bytes(), bundle);
    }

    @Override
    public @Nullable DeviceRegion deliver(
            final ReceivedFrame frame, final @Nullable DeviceRegion target, final DeviceEvent ready) {
        final long offset = (long) takenSlot * slotBytes + frame.slotOffset();
        final boolean wraps = offset + frame.bytes() > config.ringBytes();
        if (target == null && (!wraps || mend == null)) {
            lastDelivery = clearMoved(frame) ? Delivery.IN_PLACE : Delivery.MENDED;
            return DeviceRegion.ofHost(ring.asSlice(offset, frame.bytes()));
        }
        if (target == null && mendBusy) {
            return null;
        }
        clearMoved(frame);
        lastDelivery = target == null ? Delivery.IN_MEND_BUFFER : Delivery.MENDED;
        mendBusy |= target == null;
        final MemorySegment to = target == null ? Objects.requireNonNull(mend) : target.host();
        final long head = wraps && mend != null ? config.ringBytes() - offset : frame.bytes();
        MemorySegment.copy(ring, offset, to, 0, head);
        MemorySegment.copy(ring, 0, to, head, frame.bytes() - head);
        mendedBytes += frame.bytes();
        return DeviceRegion.ofHost(to.asSlice(0, frame.bytes()));
    }

    // Forgets which datagrams of the frame were moved.
    private boolean clearMoved(final ReceivedFrame frame) {
        if (moved.isEmpty()) {
            return true;
        }
        if (!frame.endsSlots()) {
            return !moved.isSet(takenSlot);
        }
        return clearMoved(takenSlot, StreamInfo.slots(frame.bytes(), slotBytes));
    }

    private boolean clearMoved(final int firstSlot, final long slots) {
        boolean untouched = true;
        for (long i = 0; i < slots; i++) {
            untouched &= !moved.clear((int) ((firstSlot + i) % config.ringSlots()));
        }
        return untouched;
    }

    private int slot(final long sequence) {
        return (int) Math.floorMod(sequence - origin, (long) config.ringSlots());
    }

    @Override
    public void rewind(final long next) {
        origin = next;
    }

    @Override
    public boolean isCopying() {
        return false;
    }

    @Override
    public Delivery lastDelivery() {
        return lastDelivery;
    }

    @Override
    public void mendReleased() {
        mendBusy = false;
    }

    @Override
    public long mendedBytes() {
        return mendedBytes;
    }

    @Override
    public int receiveSlots() {
        return config.ringSlots();
    }

    @Override
    public void close() {
        CloseHelper.closeAll(() -> config.device().unregisterHost(ring), this::freeMend, memory, arena);
    }

    private void freeMend() {
        if (mend != null) {
            config.device().free(DeviceRegion.ofHost(mend));
        }
    }
}
