package io.framecast.reliability.assembly;

import io.framecast.reliability.assembly.FrameMemory.Space;
import io.framecast.reliability.lane.LanePort;
import io.framecast.reliability.lane.SlotQueue;
import io.framecast.reliability.receive.BundleTable;
import io.framecast.reliability.receive.ReceivedFrame;
import io.framecast.reliability.receive.ReceiverMachine;
import org.jspecify.annotations.Nullable;

/// Payloads land in staging memory in order of arrival, and each run of consecutive sequences is copied by
/// one copy straight to its place in the ring. Loss and reordering cost shorter runs and nothing else.
final class StagedAssembly extends SequenceAssembly {
    private final SlotQueue staging;
    private final CopyLedger copies = new CopyLedger();
    private final LandingSlots landing;
    // Null where the ring has them.
    private final @Nullable BundleTables bundles;
    private final int slotBytes;
    // The run that is being gathered: staging slot, sequence, count.
    private int runSlot;
    private long runSequence;
    private int runCount;

    StagedAssembly(final MemoryShape shape, final FrameMemory memory) {
        super(shape, memory);
        slotBytes = shape.slotBytes();
        landing = memory.data();
        staging = new SlotQueue(shape.landingSlots());
        bundles = memory.isRingInHost() ? null : new BundleTables(shape.ringSlots(), slotBytes);
    }

    @Override
    public int prepare(final LanePort data) {
        return shape.landingSlots();
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
        keepTable(landing, slot, sequence, bytes);
        for (int i = 0; i < count; i++) {
            gather(slot + i, sequence + i);
        }
    }

    private void keepTable(final LandingSlots landed, final int slot, final long sequence, final int bytes) {
        if (bundles != null) {
            bundles.keep(
                    ring.slot(sequence),
                    landed.headers(),
                    landed.headerOffset(slot),
                    landed.payload(),
                    landed.payloadOffset(slot) + bytes);
        }
    }

    // Slots behind a short payload are copied with stale bytes in their tails: one copy instead of many.
    private void gather(final int slot, final long sequence) {
        final boolean extendsRun = runCount > 0
                && slot == runSlot + runCount
                && sequence == runSequence + runCount
                && ring.slot(sequence) != 0;
        if (!extendsRun) {
            copyRun();
            runSlot = slot;
            runSequence = sequence;
        }
        runCount++;
    }

    private void copyRun() {
        if (runCount > 0) {
            final long bytes = (long) runCount * slotBytes;
            memory.copy(Space.STAGING, landing.payloadOffset(runSlot), Space.RING, ringOffset(runSequence), bytes);
            runCount = 0;
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
        final LandingSlots repairs = memory.repairs();
        keepTable(repairs, repairSlot, sequence, bytes);
        memory.copy(Space.REPAIR, repairs.payloadOffset(repairSlot), Space.RING, ringOffset(sequence), bytes);
    }

    @Override
    boolean isUntouched(final ReceivedFrame frame) {
        return true;
    }

    @Override
    public boolean openBundle(final ReceivedFrame bundle, final BundleTable table) {
        return bundles == null
                ? openTable(Space.RING, (long) takenSlot() * slotBytes, bundle, table)
                : bundles.open(takenSlot(), bundle, table);
    }
}
