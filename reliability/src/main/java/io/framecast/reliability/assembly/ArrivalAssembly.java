package io.framecast.reliability.assembly;

import io.framecast.reliability.assembly.FrameMemory.Space;
import io.framecast.reliability.lane.LanePort;
import io.framecast.reliability.receive.BundleTable;
import io.framecast.reliability.receive.ReceivedFrame;
import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.repair.RepairRequests;
import org.jspecify.annotations.Nullable;

/// The ring is filled in order of arrival, as a verbs receive queue is: a frame without loss is in place and is
/// never copied. Repairs of other frames go into a reassembly buffer. The landed payloads of a frame are copied
/// there when the frame is whole, and its slots are free when these copies have ended.
final class ArrivalAssembly extends Assembly {
    private final ArrivalPlacement placement;
    private final ArrivalLedger ledger;
    private final int slotBytes;
    // The space of the frame or bundle delivered last.
    private Space takenSpace = Space.RING;
    private long takenOffset;
    // Number of copies begun, up to the last one that reads the ring.
    private long ringCopies;
    private int buffer;

    ArrivalAssembly(final MemoryShape shape, final FrameMemory memory) {
        this(
                shape,
                memory,
                new ArrivalPlacement(
                        shape.ringSlots(),
                        shape.buffers(),
                        shape.laterMax(),
                        tableSlots(shape.ringSlots()),
                        memory.isRingMappedTwice()));
    }

    private ArrivalAssembly(final MemoryShape shape, final FrameMemory memory, final ArrivalPlacement placement) {
        this(shape, memory, placement, new ArrivalLedger(placement, shape.ringSlots() + shape.buffers()));
    }

    private ArrivalAssembly(
            final MemoryShape shape,
            final FrameMemory memory,
            final ArrivalPlacement placement,
            final ArrivalLedger ledger) {
        super(shape, memory, ledger);
        this.placement = placement;
        this.ledger = ledger;
        slotBytes = shape.slotBytes();
        ledger.copyBy(this::copyRun);
    }

    // As long as a receive window over the ring, at least.
    private static int tableSlots(final int ringSlots) {
        return Math.max(64, Integer.highestOneBit(2 * ringSlots - 1));
    }

    /// No more datagrams can be under way than the lane holds posted slots.
    @Override
    public int prepare(final LanePort data) {
        if (data.placement() != LanePort.Placement.BY_ARRIVAL) {
            throw new IllegalStateException("placement by arrival needs a lane that takes slots in order");
        }
        post(data);
        return Math.max(1, placement.postedFree() - shape.spareSlots());
    }

    private void post(final LanePort data) {
        int run = memory.completed() >= ringCopies ? placement.repostRun() : 0;
        while (run > 0) {
            final int accepted = data.post(placement.repostSlot(), run);
            placement.repost(accepted);
            run = accepted < run ? 0 : placement.repostRun();
        }
    }

    @Override
    public int poll(final LanePort data, final @Nullable ReceiverMachine expected) {
        // Where no slot is posted no datagram waits in the lane either: arriving datagrams are lost and must be
        // repaired.
        post(data);
        return data.poll();
    }

    @Override
    public void accept(final int slot, final long sequence, final int count, final int bytes) {
        for (int i = 0; i < count; i++) {
            placement.land(slot + i);
            placement.accept(sequence + i);
        }
    }

    @Override
    public void reject(final int slot) {
        placement.land(slot);
        placement.reject();
    }

    @Override
    public void endBatch() {
        // Copies begin when the frame is whole.
    }

    @Override
    public boolean reserve(
            final long firstSequence, final long slots, final RepairRequests requests, final long nowNs) {
        buffer = placement.placeRepair(firstSequence, slots);
        if (buffer == ArrivalPlacement.NONE) {
            requests.defer(firstSequence, slots, nowNs + placement.patienceNs(firstSequence));
        }
        return buffer != ArrivalPlacement.NONE;
    }

    @Override
    public void renew(final RepairRequests requests, final long nowNs) {
        for (long first = placement.takeRoom(); first != ArrivalPlacement.NONE; first = placement.takeRoom()) {
            requests.retryNow(first, placement.takenSlots(), nowNs);
        }
        requests.room(placement.roomFrames(), placement.roomSlots(), nowNs);
    }

    @Override
    public void repaired(final long sequence, final long frameIndex, final int repairSlot, final int bytes) {
        placement.repaired(sequence);
        memory.copy(
                Space.REPAIR,
                memory.repairs().payloadOffset(repairSlot),
                Space.REASSEMBLY,
                buffer * shape.bufferBytes() + frameIndex * slotBytes,
                bytes);
        reassembled(bytes);
    }

    private void copyRun(final int fromSlot, final int toBuffer, final long frameIndex, final int slots) {
        final long bytes = (long) slots * slotBytes;
        memory.copy(
                Space.RING,
                (long) fromSlot * slotBytes,
                Space.REASSEMBLY,
                toBuffer * shape.bufferBytes() + frameIndex * slotBytes,
                bytes);
        ringCopies = memory.submitted();
        reassembled(bytes);
    }

    @Override
    public long refusedRepairs() {
        return placement.refusedRepairs();
    }

    @Override
    void take(final ReceivedFrame frame) {
        memory.flush();
        final long handle = ledger.lastHandle();
        takenSpace = handle < 0 ? Space.REASSEMBLY : Space.RING;
        takenOffset = handle < 0 ? (-1 - handle) * shape.bufferBytes() : (long) placement.slotOf(handle) * slotBytes;
    }

    @Override
    public boolean openBundle(final ReceivedFrame bundle, final BundleTable table) {
        return openTable(takenSpace, takenOffset, bundle, table);
    }

    @Override
    public boolean locate(final ReceivedFrame frame, final long place, final int posted) {
        final long at = takenOffset + frame.slotOffset();
        if (posted == BufferQueue.NONE) {
            return locatedAt(takenSpace, at, takenSpace == Space.RING);
        }
        final long to = BufferQueue.offset(posted);
        memory.copy(takenSpace, at, Space.POSTED, to, frame.bytes());
        // The user may close the frame before this copy ended. Only later copies write reassembly buffers.
        ringCopies = takenSpace == Space.RING ? memory.submitted() : ringCopies;
        memory.flush();
        reassembled(frame.bytes());
        return locatedAt(Space.POSTED, to, false);
    }
}
