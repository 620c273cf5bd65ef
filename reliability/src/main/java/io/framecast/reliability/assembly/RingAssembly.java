package io.framecast.reliability.assembly;

import io.framecast.reliability.assembly.FrameMemory.Space;
import io.framecast.reliability.lane.LanePort;
import io.framecast.reliability.receive.BundleTable;
import io.framecast.reliability.receive.ReceivedFrame;
import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.wire.StreamInfo;
import org.jspecify.annotations.Nullable;

/// Payloads land in the ring itself: before each poll the assembly posts the slots of the sequences expected next,
/// so payloads are not copied. Loss misplaces at most the batch in which it is noticed; copies through scratch
/// slots put that batch in order. A frame that passes the ring's end lies in one piece where the ring is mapped twice;
/// elsewhere it is copied to the one reassembly buffer.
final class RingAssembly extends SequenceAssembly {
    private static final long FREE = -1;

    private final long[] misplaced;
    private final int[] misplacedBytes;
    private final SlotBits moved;
    private final int slotBytes;
    private int misplacedCount;
    // The place of the frame in the reassembly buffer.
    private long bufferPlace = FREE;

    RingAssembly(final MemoryShape shape, final FrameMemory memory) {
        super(shape, memory);
        slotBytes = shape.slotBytes();
        misplaced = new long[shape.batchMax()];
        misplacedBytes = new int[shape.batchMax()];
        moved = new SlotBits(shape.ringSlots());
    }

    @Override
    public int prepare(final LanePort data) {
        if (data.placement() != LanePort.Placement.BY_SEQUENCE) {
            throw new IllegalStateException("placement in the ring needs a lane that can be aimed");
        }
        return shape.ringSlots();
    }

    @Override
    public int poll(final LanePort data, final @Nullable ReceiverMachine expected) {
        // Before the probe no sequence is expected and the ring is empty: a datagram may land anywhere in it.
        final int posted = expected == null ? data.post(0, shape.batchMax()) : aim(data, expected);
        return posted == 0 ? NO_SLOT : data.poll();
    }

    private int aim(final LanePort data, final ReceiverMachine expected) {
        final long next = expected.expectedSequence();
        // The last slots are never granted, and so empty, where a source sends without credit.
        final long limit = creditLimit();
        if (next > limit) {
            return data.post(ring.slot(limit), Math.min(shape.spareSlots(), shape.batchMax()));
        }
        final int slots = (int) Math.min(limit + shape.spareSlots() - next, shape.batchMax());
        // A misplaced datagram must not overwrite a repair that came ahead of the data lane.
        return data.post(ring.slot(next), expected.expectedRun(next, slots));
    }

    @Override
    public void accept(final int slot, final long sequence, final int count, final int bytes) {
        if (ring.slot(sequence) == slot) {
            return;
        }
        // Datagrams that follow one another in sequence and slot lie equally far from their places.
        for (int i = 0; i < count; i++) {
            final int length = i == 0 ? bytes : slotBytes;
            memory.copy(
                    Space.RING,
                    (slot + i) * (long) slotBytes,
                    Space.SCRATCH,
                    misplacedCount * (long) slotBytes,
                    length);
            misplaced[misplacedCount] = sequence + i;
            misplacedBytes[misplacedCount++] = length;
        }
    }

    @Override
    public void reject(final int slot) {
        // The next post names its slot again.
    }

    @Override
    public void endBatch() {
        for (int i = 0; i < misplacedCount; i++) {
            place(Space.SCRATCH, i, misplaced[i], misplacedBytes[i]);
        }
        misplacedCount = 0;
    }

    @Override
    public void repaired(final long sequence, final long frameIndex, final int repairSlot, final int bytes) {
        place(Space.REPAIR, repairSlot, sequence, bytes);
    }

    private void place(final Space from, final int slot, final long sequence, final int bytes) {
        memory.copy(from, slot * (long) slotBytes, Space.RING, ringOffset(sequence), bytes);
        moved.set(ring.slot(sequence));
        reassembled(bytes);
    }

    @Override
    public void skip(final long firstSequence, final long endSequence) {
        if (!moved.isEmpty()) {
            clearMoved(ring.slot(firstSequence), Math.min(endSequence - firstSequence, shape.ringSlots()));
        }
        super.skip(firstSequence, endSequence);
    }

    @Override
    public boolean locate(final ReceivedFrame frame, final long place, final int buffer) {
        final boolean posted = buffer != BufferQueue.NONE;
        final boolean wraps = offsetOf(frame) + frame.bytes() > shape.ringBytes() && !memory.isRingMappedTwice();
        if (!posted && wraps && bufferPlace != FREE) {
            return false;
        }
        final boolean untouched = isUntouched(frame);
        if (posted) {
            return locateCopy(frame, Space.POSTED, BufferQueue.offset(buffer));
        }
        if (!wraps) {
            return locatedAt(Space.RING, offsetOf(frame), untouched);
        }
        bufferPlace = place;
        return locateCopy(frame, Space.REASSEMBLY, 0);
    }

    @Override
    public void release(final long place) {
        super.release(place);
        if (place == bufferPlace) {
            bufferPlace = FREE;
        }
    }

    // Whether no datagram of a frame that is being located was moved within the ring; asked once.
    private boolean isUntouched(final ReceivedFrame frame) {
        if (moved.isEmpty()) {
            return true;
        }
        return frame.endsSlots()
                ? clearMoved(takenSlot(), StreamInfo.slots(frame.bytes(), slotBytes))
                : !moved.isSet(takenSlot());
    }

    private boolean clearMoved(final int firstSlot, final long slots) {
        boolean untouched = true;
        for (long i = 0; i < slots; i++) {
            untouched &= !moved.clear((int) ((firstSlot + i) % shape.ringSlots()));
        }
        return untouched;
    }

    @Override
    public boolean openBundle(final ReceivedFrame bundle, final BundleTable table) {
        return table.open(memory.data().payload(), takenSlot() * (long) slotBytes + bundle.bytes(), bundle);
    }

    @Override
    public void rewind(final long next) {
        ring.rewind(next);
    }
}
