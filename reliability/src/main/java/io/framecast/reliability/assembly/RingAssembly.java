package io.framecast.reliability.assembly;

import io.framecast.reliability.assembly.FrameMemory.Space;
import io.framecast.reliability.lane.LanePort;
import io.framecast.reliability.receive.BundleTable;
import io.framecast.reliability.receive.ReceivedFrame;
import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.wire.StreamInfo;
import org.jspecify.annotations.Nullable;

/// Payloads go to the ring itself: before each poll the assembly posts the slots of the sequences expected next,
/// so payloads are not copied. Loss misplaces at most the batch in which it is noticed; copies through scratch
/// slots put that batch in order. A frame that passes the ring's end lies in one piece where the ring is mapped
/// twice; elsewhere it is copied to the one reassembly buffer.
final class RingAssembly extends SequenceAssembly {
    private static final long FREE = -1;

    private final ScratchSlots scratch;
    private final SlotBits moved;
    private final int slotBytes;
    private Posting posting = LanePort::post;
    // The place of the frame in the reassembly buffer.
    private long bufferPlace = FREE;

    RingAssembly(final MemoryShape shape, final FrameMemory memory) {
        super(shape, memory);
        slotBytes = shape.slotBytes();
        scratch = new ScratchSlots(shape, memory);
        moved = new SlotBits(shape.ringSlots());
    }

    /// Before the first poll: slots are posted by `made`.
    void postBy(final Posting made) {
        posting = made;
    }

    /// The misplaced payloads of this batch.
    ScratchSlots scratch() {
        return scratch;
    }

    @Override
    public int prepare(final LanePort data) {
        if (data.placement() != LanePort.Placement.BY_SEQUENCE) {
            throw new IllegalStateException("placement in the ring needs a lane whose posts replace each other");
        }
        return shape.ringSlots();
    }

    @Override
    public int poll(final LanePort data, final @Nullable ReceiverMachine expected) {
        // Before the probe no sequence is expected and the ring is empty: a datagram may land anywhere in it.
        final int count = expected == null ? posting.post(data, 0, shape.batchMax()) : post(data, expected);
        return count == 0 ? NO_SLOT : data.poll();
    }

    /// The first sequence whose slot the next poll posts.
    long firstPosted(final ReceiverMachine expected) {
        // The last slots are never granted, and so empty, where a source sends without credit.
        return Math.min(expected.expectedSequence(), creditLimit());
    }

    private int post(final LanePort data, final ReceiverMachine expected) {
        final long limit = creditLimit();
        final long next = expected.expectedSequence();
        final long first = firstPosted(expected);
        final int slots = (int) Math.min(limit + shape.spareSlots() - first, shape.batchMax());
        // A misplaced datagram must not overwrite a repair that came ahead of the data lane.
        final int run = next > limit ? slots : expected.expectedRun(next, slots);
        return posting.post(data, ring.slot(first), run);
    }

    @Override
    public void accept(final int slot, final long sequence, final int count, final int bytes) {
        // Datagrams that follow one another in sequence and slot lie equally far from their places.
        if (ring.slot(sequence) == slot) {
            return;
        }
        for (int i = 0; i < count; i++) {
            final int length = i == 0 ? bytes : slotBytes;
            scratch.copy(Space.RING, (slot + i) * (long) slotBytes, 0, length);
            scratch.add(sequence + i, length);
        }
    }

    @Override
    public void reject(final int slot) {
        // The next post names its slot again.
    }

    @Override
    public void endBatch() {
        for (int i = 0; i < scratch.count(); i++) {
            place(Space.SCRATCH, i, scratch.sequence(i), scratch.bytes(i));
        }
        scratch.clear();
    }

    @Override
    public void repaired(final long sequence, final long frameIndex, final int repairSlot, final int bytes) {
        place(Space.REPAIR, repairSlot, sequence, bytes);
    }

    /// Copies a payload to the slot of its sequence.
    void place(final Space from, final int slot, final long sequence, final int bytes) {
        memory.copy(from, slot * (long) slotBytes, Space.RING, ringOffset(sequence), bytes);
        onMoved(sequence, bytes);
    }

    /// A payload was copied to its place, which may lie outside of the ring.
    void onMoved(final long sequence, final int bytes) {
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
    public boolean locate(final ReceivedFrame frame, final long place) {
        final boolean wraps = offsetOf(frame) + frame.bytes() > shape.ringBytes() && !memory.isRingMappedTwice();
        if (!wraps) {
            return locatedAt(Space.RING, offsetOf(frame), isUntouched(frame));
        }
        if (bufferPlace != FREE) {
            return false;
        }
        bufferPlace = place;
        copyOut(frame, Space.REASSEMBLY, 0);
        return locatedAt(Space.REASSEMBLY, 0, false);
    }

    @Override
    void copyOut(final ReceivedFrame frame, final Space to, final long toOffset) {
        isUntouched(frame);
        super.copyOut(frame, to, toOffset);
    }

    @Override
    public void release(final long place) {
        super.release(place);
        if (place == bufferPlace) {
            bufferPlace = FREE;
        }
    }

    // Its slots forget that they were moved.
    @Override
    boolean isUntouched(final ReceivedFrame frame) {
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
