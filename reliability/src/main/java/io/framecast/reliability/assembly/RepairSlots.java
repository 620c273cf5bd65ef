package io.framecast.reliability.assembly;

import io.framecast.reliability.lane.LanePort;
import io.framecast.reliability.lane.SlotQueue;
import org.jspecify.annotations.Nullable;

/// The receive slots of repairs, from the repair lane or by RDMA reads, until their payloads are copied on.
///
/// One thread.
public final class RepairSlots {
    /// Most repairs taken in one poll.
    public static final int BATCH_MAX = 64;

    private final FrameMemory memory;
    private final SlotQueue slots;
    private final CopyLedger laneCopies = new CopyLedger();
    private final CopyLedger readCopies = new CopyLedger();
    private final @Nullable ReadSlots reads;
    private final int[] batchSlots = new int[BATCH_MAX];
    private final int[] batchBytes = new int[BATCH_MAX];

    public RepairSlots(final MemoryShape shape, final FrameMemory memory) {
        this.memory = memory;
        slots = new SlotQueue(shape.repairSlots());
        reads = shape.readSlots() == 0 ? null : new ReadSlots(memory.repairs(), shape.repairSlots(), shape.readSlots());
    }

    public SlotMemory slotMemory() {
        return memory.repairs();
    }

    /// Null without RDMA reads.
    public @Nullable ReadSlots reads() {
        return reads;
    }

    /// Takes the datagrams that arrived on the lane, and those that were read.
    ///
    /// @return datagrams, described by [#slot] and [#bytes] until the next call
    public int poll(final LanePort lane) {
        free();
        int count = slots.poll(lane);
        for (int i = 0; i < count; i++) {
            batchSlots[i] = lane.slot(i);
            batchBytes[i] = lane.bytes(i);
        }
        while (reads != null && count < BATCH_MAX && reads.hasNext()) {
            batchSlots[count] = reads.next();
            batchBytes[count++] = reads.bytes();
        }
        return count;
    }

    private void free() {
        final long completed = memory.completed();
        slots.freeUpTo(laneCopies.free(slots.taken(), completed));
        if (reads != null) {
            reads.freeUpTo(readCopies.free(reads.shown(), completed));
        }
    }

    /// The slot of datagram `index` in [FrameMemory#repairs].
    public int slot(final int index) {
        return batchSlots[index];
    }

    /// Its length, header and payload, in bytes.
    public int bytes(final int index) {
        return batchBytes[index];
    }

    /// The copies out of the last batch have begun.
    public void endBatch() {
        memory.flush();
        laneCopies.mark(slots.taken(), memory.submitted());
        if (reads != null) {
            readCopies.mark(reads.shown(), memory.submitted());
        }
        free();
    }
}
