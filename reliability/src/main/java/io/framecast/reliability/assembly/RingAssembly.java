package io.framecast.reliability.assembly;

import io.framecast.reliability.assembly.FrameMemory.Space;
import io.framecast.reliability.lane.LanePort;
import io.framecast.reliability.receive.BundleTable;
import io.framecast.reliability.receive.ReceivedFrame;
import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.StreamInfo;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Payloads go to the ring itself: before each poll the assembly posts the slots of the sequences expected next,
/// so payloads are not copied. Loss misplaces at most the batch in which it is noticed; copies through scratch
/// slots put that batch in order. A frame that passes the ring's end lies in one piece where the ring is mapped twice;
/// elsewhere it is copied to the one reassembly buffer.
///
/// Where the user posts buffers, the slots of a frame are redirected to its buffer. The slots behind the newest
/// frame are redirected as if each frame had its length. A frame of another length misplaces the datagrams that
/// came with it in one batch.
final class RingAssembly extends SequenceAssembly {
    private static final long FREE = -1;
    private static final long IN_SLOT = -1;

    private final SlotMemory dataSlots;
    private final long[] misplaced;
    private final int[] misplacedBytes;
    // Where these belong in the user's buffers, or IN_SLOT.
    private final long[] misplacedTo;
    private final SlotBits moved;
    private final int slotBytes;
    private int misplacedCount;
    private boolean canRedirect;
    // The place of the frame in the reassembly buffer.
    private long bufferPlace = FREE;
    // By slot: where in the user's buffers its payload lands, or IN_SLOT. Empty before a buffer was posted.
    private long[] places = {};
    private final FrameForecast forecast;
    // Expected frames up to here may have buffers.
    private long expectedEnd;
    // Buffers of frames that were not as expected: datagrams of this batch may lie in them.
    private final int[] withdrawn = new int[BufferQueue.TAKEN_MAX];
    private int withdrawnCount;

    RingAssembly(final MemoryShape shape, final FrameMemory memory) {
        super(shape, memory);
        slotBytes = shape.slotBytes();
        dataSlots = memory.data();
        forecast = new FrameForecast(shape.stream());
        misplaced = new long[shape.batchMax()];
        misplacedBytes = new int[shape.batchMax()];
        misplacedTo = new long[shape.batchMax()];
        moved = new SlotBits(shape.ringSlots());
    }

    @Override
    public void start(final long firstSequence, final BufferQueue buffers) {
        // Else frames are copied to the user's buffers when they are whole.
        super.start(firstSequence, canRedirect ? buffers : BufferQueue.EMPTY);
        forecast.start(firstSequence);
        expectedEnd = firstSequence;
    }

    @Override
    public int prepare(final LanePort data) {
        if (data.placement() != LanePort.Placement.BY_SEQUENCE) {
            throw new IllegalStateException("placement in the ring needs a lane whose posts replace each other");
        }
        canRedirect = canRedirect(data);
        return shape.ringSlots();
    }

    @Override
    public int poll(final LanePort data, final @Nullable ReceiverMachine expected) {
        // Before the probe no sequence is expected and the ring is empty: a datagram may land anywhere in it.
        final int count = expected == null ? data.post(0, shape.batchMax()) : post(data, expected);
        return count == 0 ? NO_SLOT : data.poll();
    }

    private int post(final LanePort data, final ReceiverMachine expected) {
        // The last slots are never granted, and so empty, where a source sends without credit.
        final long limit = creditLimit();
        final long next = expected.expectedSequence();
        final long first = Math.min(next, limit);
        final int slots = (int) Math.min(limit + shape.spareSlots() - first, shape.batchMax());
        // A misplaced datagram must not overwrite a repair that came ahead of the data lane.
        final int run = next > limit ? slots : expected.expectedRun(next, slots);
        if (posted.isUsed()) {
            // A co-root copies its datagrams from the slots.
            redirect(data, first, run, expected.store() == null ? limit : first);
        }
        return data.post(ring.slot(first), run);
    }

    // Redirects the slots of `count` sequences. Payloads from `limit` on go to the ring.
    private void redirect(final LanePort data, final long first, final int count, final long limit) {
        if (places.length == 0) {
            places = new long[shape.ringSlots()];
            Arrays.fill(places, IN_SLOT);
        }
        long frame = NONE;
        int buffer = PostedFrames.IN_RING;
        for (long sequence = first; sequence < first + count; sequence++) {
            final long begin = sequence < limit ? forecast.frameOf(sequence) : NONE;
            if (begin != frame) {
                frame = begin;
                buffer = frame == NONE ? PostedFrames.IN_RING : expect(frame);
            }
            redirect(data, ring.slot(sequence), buffer, (sequence - frame) * slotBytes);
        }
    }

    // The buffer of a frame. A frame behind the newest one takes a buffer only if there is one now.
    private int expect(final long frame) {
        final int slot = ring.slot(frame);
        if (frame >= forecast.end() && posted.expect(frame, slot, forecast.bytesMax())) {
            expectedEnd = Math.max(expectedEnd, frame + forecast.slots());
        }
        final int buffer = posted.of(slot);
        return buffer >= 0 && posted.isGone(buffer) ? PostedFrames.GONE : buffer;
    }

    private void redirect(final LanePort data, final int slot, final int buffer, final long offset) {
        final int room = buffer < 0 ? 0 : Math.clamp(posted.bytes(buffer) - offset, 0, slotBytes);
        if (room > 0) {
            places[slot] = BufferQueue.offset(buffer) + offset;
            data.redirect(slot, buffer, offset, room);
        } else if (places[slot] != IN_SLOT) {
            places[slot] = IN_SLOT;
            data.redirect(slot, BufferQueue.NONE, 0, 0);
        }
    }

    @Override
    public void accept(final int slot, final long sequence, final int count, final int bytes) {
        final int buffer;
        long to = IN_SLOT;
        if (posted.isUsed()) {
            final long header = dataSlots.headerOffset(slot);
            final long index = DataLayout.FRAME_INDEX.unsigned(dataSlots.headers(), header);
            learn(dataSlots, slot, sequence - index);
            buffer = decide(dataSlots.headers(), header, sequence - index, sequence + count);
            to = buffer < 0 ? IN_SLOT : BufferQueue.offset(buffer) + index * slotBytes;
        } else {
            posted.pass(sequence + count);
            buffer = PostedFrames.IN_RING;
        }
        if (buffer == PostedFrames.GONE || isThere(slot, sequence, to, count)) {
            return;
        }
        for (int i = 0; i < count; i++) {
            takeOut(slot + i, i == 0 ? bytes : slotBytes);
            misplaced[misplacedCount] = sequence + i;
            misplacedTo[misplacedCount++] = to == IN_SLOT ? IN_SLOT : to + (long) i * slotBytes;
        }
    }

    // From a datagram that came: where the frames behind its own may begin.
    private void learn(final SlotMemory slots, final int slot, final long first) {
        final long bytes = FrameForecast.frameBytes(slots.headers(), slots.headerOffset(slot));
        giveUp(posted.confirm(ring.slot(first), bytes == 0 ? Long.MAX_VALUE : bytes));
        if (!forecast.expects(first, bytes)) {
            withdraw();
        }
        forecast.learn(first, bytes);
        expectedEnd = Math.max(expectedEnd, forecast.end());
    }

    // No frame begins where one was expected, as far as is known.
    private void withdraw() {
        for (long frame = forecast.end(); frame < expectedEnd; frame += forecast.slots()) {
            giveUp(posted.withdraw(ring.slot(frame)));
        }
        expectedEnd = forecast.end();
    }

    @Override
    public boolean yieldBuffer() {
        // The buffer that was posted first.
        for (long frame = forecast.end(); frame < expectedEnd; frame += forecast.slots()) {
            final int buffer = posted.withdraw(ring.slot(frame));
            if (buffer != BufferQueue.NONE) {
                posted.giveBack(buffer);
                return true;
            }
        }
        return false;
    }

    private void giveUp(final int buffer) {
        if (buffer != BufferQueue.NONE) {
            withdrawn[withdrawnCount++] = buffer;
        }
    }

    private void giveBackWithdrawn() {
        for (int i = 0; i < withdrawnCount; i++) {
            posted.giveBack(withdrawn[i]);
        }
        withdrawnCount = 0;
    }

    // Datagrams that follow one another in sequence and slot lie equally far from their places; not so where slots are
    // redirected.
    private boolean isThere(final int slot, final long sequence, final long to, final int count) {
        if (places.length == 0) {
            // The first buffer may have been posted behind the poll: datagrams of that poll lie in the ring.
            return to == IN_SLOT && ring.slot(sequence) == slot;
        }
        for (int i = 0; i < count; i++) {
            final boolean there = to == IN_SLOT
                    ? places[slot + i] == IN_SLOT && ring.slot(sequence + i) == slot + i
                    : places[slot + i] == to + (long) i * slotBytes;
            if (!there) {
                return false;
            }
        }
        return true;
    }

    // To a scratch slot, until all of the batch are there.
    private void takeOut(final int slot, final int bytes) {
        final long scratch = (long) misplacedCount * slotBytes;
        final long at = (long) slot * slotBytes;
        final long place = places.length == 0 ? IN_SLOT : places[slot];
        final int inBuffer = place == IN_SLOT ? 0 : (int) Math.min(bytes, room(place));
        if (inBuffer > 0) {
            memory.copy(Space.POSTED, place, Space.SCRATCH, scratch, inBuffer);
        }
        if (bytes > inBuffer) {
            memory.copy(Space.RING, at + inBuffer, Space.SCRATCH, scratch + inBuffer, bytes - inBuffer);
        }
        misplacedBytes[misplacedCount] = bytes;
    }

    private long room(final long place) {
        return posted.bytes(BufferQueue.number(place)) - BufferQueue.within(place);
    }

    @Override
    public void reject(final int slot) {
        // The next post names its slot again.
    }

    @Override
    public void endBatch() {
        for (int i = 0; i < misplacedCount; i++) {
            place(Space.SCRATCH, i, misplaced[i], misplacedTo[i], misplacedBytes[i]);
        }
        misplacedCount = 0;
        giveBackWithdrawn();
    }

    @Override
    public void repaired(final long sequence, final long frameIndex, final int repairSlot, final int bytes) {
        final long first = sequence - frameIndex;
        if (posted.isUsed()) {
            learn(memory.repairs(), repairSlot, first);
            giveBackWithdrawn();
        }
        final int buffer = decideForRepair(first, sequence + 1);
        if (buffer != PostedFrames.GONE) {
            final long to = buffer < 0 ? IN_SLOT : BufferQueue.offset(buffer) + frameIndex * slotBytes;
            place(Space.REPAIR, repairSlot, sequence, to, bytes);
        }
    }

    private void place(final Space from, final int slot, final long sequence, final long to, final int bytes) {
        if (to == IN_SLOT) {
            memory.copy(from, slot * (long) slotBytes, Space.RING, ringOffset(sequence), bytes);
        } else {
            copyTo(from, slot * (long) slotBytes, Space.POSTED, to, bytes);
        }
        moved.set(ring.slot(sequence));
        reassembled(bytes);
    }

    @Override
    void take(final ReceivedFrame frame) {
        super.take(frame);
        // Where a frame was expected in the middle of this one.
        posted.drop(takenSlot() + 1, StreamInfo.slots(frame.bytes(), slotBytes) - 1);
    }

    @Override
    public void skip(final long firstSequence, final long endSequence) {
        withdraw();
        giveBackWithdrawn();
        if (!moved.isEmpty()) {
            clearMoved(ring.slot(firstSequence), Math.min(endSequence - firstSequence, shape.ringSlots()));
        }
        super.skip(firstSequence, endSequence);
    }

    @Override
    public boolean locate(final ReceivedFrame frame, final long place, final int buffer) {
        if (isPosted()) {
            return locatePosted(isUntouched(frame));
        }
        final boolean copied = buffer != BufferQueue.NONE;
        final boolean wraps = offsetOf(frame) + frame.bytes() > shape.ringBytes() && !memory.isRingMappedTwice();
        if (!copied && wraps && bufferPlace != FREE) {
            return false;
        }
        final boolean untouched = isUntouched(frame);
        if (copied) {
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
        withdraw();
        giveBackWithdrawn();
        ring.rewind(next);
    }
}
