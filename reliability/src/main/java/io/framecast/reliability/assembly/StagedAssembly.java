package io.framecast.reliability.assembly;

import io.framecast.reliability.assembly.FrameMemory.Space;
import io.framecast.reliability.lane.LanePort;
import io.framecast.reliability.lane.SlotQueue;
import io.framecast.reliability.receive.BundleTable;
import io.framecast.reliability.receive.ReceivedFrame;
import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.wire.DataLayout;
import org.jspecify.annotations.Nullable;

/// Payloads land in staging memory in order of arrival, and each run of consecutive sequences is copied by
/// one copy straight to its place in the ring. Loss and reordering cost shorter runs and nothing else. A frame that
/// passes the ring's end goes on in the tail behind it: slots that it would have at the ring's start stay unused. The
/// tail holds one such frame, and the next one has no slots before that is released.
final class StagedAssembly extends SequenceAssembly {
    private final SlotQueue staging;
    private final CopyLedger copies = new CopyLedger();
    private final LandingSlots landing;
    // Null where the ring has them.
    private final @Nullable BundleTables bundles;
    private final int slotBytes;
    // At the ring's start, which the end of a frame may not have.
    private final int tailSlots;
    // The run that is being gathered: staging slot, slot of the ring or its tail, count.
    private int runSlot;
    private int runTarget;
    private int runCount;

    StagedAssembly(final MemoryShape shape, final FrameMemory memory) {
        super(shape, memory);
        slotBytes = shape.slotBytes();
        tailSlots = (int) (shape.tailBytes() / slotBytes);
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
            gather(slot + i, target(slot + i, sequence + i));
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

    // Headers are read near the ring's start only.
    private int target(final int slot, final long sequence) {
        final int at = ring.slot(sequence);
        return at < tailSlots
                ? inTail(at, DataLayout.FRAME_INDEX.unsigned(landing.headers(), landing.headerOffset(slot)))
                : at;
    }

    // A frame with more datagrams before this one than the ring has slots before it began at the ring's end.
    private int inTail(final int ringSlot, final long frameIndex) {
        return ringSlot < tailSlots && frameIndex > ringSlot ? shape.ringSlots() + ringSlot : ringSlot;
    }

    // Slots behind a short payload are copied with stale bytes in their tails: one copy instead of many.
    private void gather(final int slot, final int target) {
        if (runCount == 0 || slot != runSlot + runCount || target != runTarget + runCount) {
            copyRun();
            runSlot = slot;
            runTarget = target;
        }
        runCount++;
    }

    private void copyRun() {
        if (runCount > 0) {
            final long bytes = (long) runCount * slotBytes;
            memory.copy(Space.STAGING, landing.payloadOffset(runSlot), Space.RING, (long) runTarget * slotBytes, bytes);
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
        final long target = (long) inTail(ring.slot(sequence), frameIndex) * slotBytes;
        memory.copy(Space.REPAIR, repairs.payloadOffset(repairSlot), Space.RING, target, bytes);
    }

    @Override
    public boolean locate(final ReceivedFrame frame, final long place, final boolean posted) {
        return posted ? locateCopy(frame, Space.POSTED) : locatedAt(Space.RING, offsetOf(frame), true);
    }

    @Override
    public boolean openBundle(final ReceivedFrame bundle, final BundleTable table) {
        return bundles == null
                ? openTable(Space.RING, (long) takenSlot() * slotBytes, bundle, table)
                : bundles.open(takenSlot(), bundle, table);
    }
}
