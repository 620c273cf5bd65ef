package io.framecast.reliability.assembly;

import io.framecast.reliability.assembly.FrameMemory.Space;
import io.framecast.reliability.lane.LanePort;
import io.framecast.reliability.lane.SlotQueue;
import io.framecast.reliability.receive.BundleTable;
import io.framecast.reliability.receive.ReceivedFrame;
import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.wire.DataLayout;
import org.jspecify.annotations.Nullable;

/// Payloads land in staging memory in order of arrival, and each run of consecutive sequences is copied by one
/// copy straight to its place in the ring. Loss and reordering cost shorter runs and nothing else. A frame that
/// passes the ring's end goes on in the tail behind it: slots that it would have at the ring's start stay unused.
/// The tail holds one such frame, and the next one has no slots before that is released.
final class StagedAssembly extends SequenceAssembly {
    private final SlotQueue staging;
    private final CopyLedger copies = new CopyLedger();
    private final SlotMemory dataSlots;
    // Null where the ring has them.
    private final @Nullable BundleTables bundles;
    private final int slotBytes;
    // At the ring's start, which the end of a frame may not have.
    private final int tailSlots;
    // The run that is being gathered: staging slot and count, and its place.
    private int runSlot;
    private int runCount;
    private Space runSpace = Space.RING;
    private long runOffset;
    private long runBytes;

    StagedAssembly(final MemoryShape shape, final FrameMemory memory) {
        super(shape, memory);
        slotBytes = shape.slotBytes();
        tailSlots = (int) (shape.tailBytes() / slotBytes);
        dataSlots = memory.data();
        staging = new SlotQueue(shape.stagingSlots());
        bundles = memory.isRingInHost() ? null : new BundleTables(shape.ringSlots(), slotBytes);
    }

    @Override
    public int prepare(final LanePort data) {
        return shape.stagingSlots();
    }

    @Override
    public int poll(final LanePort data, final @Nullable ReceiverMachine expected) {
        staging.freeUpTo(copies.free(staging.taken(), memory.completed()));
        final int count = staging.poll(data);
        return count == 0 && staging.isFull() ? NO_SLOT : count;
    }

    @Override
    public void accept(final int slot, final long sequence, final int count, final int bytes) {
        // Only a datagram that is a frame of its own, or a bundle, can have a table: never one of a run.
        keepTable(dataSlots, slot, sequence, bytes);
        final long header = dataSlots.headerOffset(slot);
        final long index = DataLayout.FRAME_INDEX.unsigned(dataSlots.headers(), header);
        for (int i = 0; i < count; i++) {
            final long target = (long) inTail(ring.slot(sequence + i), index + i) * slotBytes;
            // Slots behind a short payload are copied with stale bytes in their tails: one copy instead of many.
            gather(slot + i, 1, Space.RING, target, slotBytes);
        }
    }

    private void keepTable(final SlotMemory slots, final int slot, final long sequence, final int bytes) {
        if (bundles != null) {
            bundles.keep(
                    ring.slot(sequence),
                    slots.headers(),
                    slots.headerOffset(slot),
                    slots.payload(),
                    slots.payloadOffset(slot) + bytes);
        }
    }

    // A frame with more datagrams before this one than the ring has slots before it began at the ring's end.
    private int inTail(final int ringSlot, final long frameIndex) {
        return ringSlot < tailSlots && frameIndex > ringSlot ? shape.ringSlots() + ringSlot : ringSlot;
    }

    /// Takes staging slots, whose payloads go to one place. They join the run that is being gathered where they
    /// continue it; else that is copied first.
    void gather(final int slot, final int count, final Space space, final long offset, final long bytes) {
        if (!continuesRun(slot, space, offset)) {
            copyRun();
        }
        if (runCount == 0) {
            runSlot = slot;
            runSpace = space;
            runOffset = offset;
        }
        runCount += count;
        runBytes += bytes;
    }

    boolean continuesRun(final int slot, final Space space, final long offset) {
        return slot == runSlot + runCount && space == runSpace && offset == runOffset + runBytes;
    }

    /// Where the run that is being gathered, or was last, goes.
    Space runSpace() {
        return runSpace;
    }

    /// Where it begins there.
    long runOffset() {
        return runOffset;
    }

    /// Copies the run that is being gathered.
    void copyRun() {
        if (runCount > 0) {
            final long bytes = runBytes;
            runCount = 0;
            runBytes = 0;
            memory.copy(Space.STAGING, dataSlots.payloadOffset(runSlot), runSpace, runOffset, bytes);
        }
    }

    @Override
    public void reject(final int slot) {
        // It is not copied, and so it is free with its neighbours.
    }

    @Override
    public void endBatch() {
        copyRun();
        memory.flush();
        copies.mark(staging.taken(), memory.submitted());
    }

    @Override
    public void repaired(final long sequence, final long frameIndex, final int repairSlot, final int bytes) {
        final SlotMemory repairs = memory.repairs();
        keepTable(repairs, repairSlot, sequence, bytes);
        final long target = (long) inTail(ring.slot(sequence), frameIndex) * slotBytes;
        memory.copy(Space.REPAIR, repairs.payloadOffset(repairSlot), Space.RING, target, bytes);
    }

    @Override
    public boolean locate(final ReceivedFrame frame, final long place) {
        return locatedAt(Space.RING, offsetOf(frame), true);
    }

    @Override
    public boolean openBundle(final ReceivedFrame bundle, final BundleTable table) {
        return bundles == null
                ? openTable(Space.RING, (long) takenSlot() * slotBytes, bundle, table)
                : bundles.open(takenSlot(), bundle, table);
    }
}
