package io.framecast.reliability.assembly;

import io.framecast.reliability.assembly.FrameMemory.Space;
import io.framecast.reliability.lane.LanePort;
import io.framecast.reliability.receive.ReceivedFrame;
import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.wire.StreamInfo;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Redirects the slots of a frame in the ring to the frame's buffer. The slots behind the newest frame are
/// redirected as if each frame had its length. A frame of another length misplaces the datagrams that came with
/// it in one batch; copies through scratch slots put them in order, as after a loss.
final class PostedRing extends PostedSequence {
    private static final long IN_SLOT = -1;

    private final RingAssembly placement;
    private final ScratchSlots scratch;
    // Where the payloads in scratch slots belong in the buffers, or IN_SLOT.
    private final long[] targets;
    // By slot: where in the buffers its payload lands, or IN_SLOT. Empty before a buffer was posted.
    private long[] places = {};
    private final FrameForecast forecast;
    // Expected frames up to here may have buffers.
    private long expectedEnd;
    // Buffers of frames that were not as expected: datagrams of this batch may lie in them.
    private final int[] withdrawn = new int[BufferQueue.TAKEN_MAX];
    private int withdrawnCount;
    // Of the next post: whether its slots are redirected, its first sequence, and the end of the sequences whose
    // payloads go to buffers.
    private boolean redirects;
    private long firstPosted;
    private long redirectedEnd;

    PostedRing(final RingAssembly placement, final BufferQueue buffers) {
        super(placement, buffers);
        this.placement = placement;
        scratch = placement.scratch();
        targets = new long[shape.batchMax()];
        Arrays.fill(targets, IN_SLOT);
        forecast = new FrameForecast(shape.stream());
        placement.postBy(this::post);
    }

    @Override
    public void start(final long firstSequence) {
        super.start(firstSequence);
        // Else frames are copied to their buffers when they are whole.
        frames.start(redirectable());
        forecast.start(firstSequence);
        expectedEnd = firstSequence;
    }

    @Override
    public int poll(final LanePort data, final @Nullable ReceiverMachine expected) {
        redirects = false;
        if (expected != null && frames.isUsed()) {
            redirects = true;
            firstPosted = placement.firstPosted(expected);
            // A co-root copies its datagrams from the slots.
            redirectedEnd = expected.store() == null ? creditLimit() : firstPosted;
        }
        return placement.poll(data, expected);
    }

    private int post(final LanePort data, final int firstSlot, final int count) {
        if (redirects) {
            redirect(data, count);
        }
        return data.post(firstSlot, count);
    }

    private void redirect(final LanePort data, final int count) {
        if (places.length == 0) {
            places = new long[shape.ringSlots()];
            Arrays.fill(places, IN_SLOT);
        }
        long frame = FrameForecast.NONE;
        int buffer = PostedFrames.IN_RING;
        for (long sequence = firstPosted; sequence < firstPosted + count; sequence++) {
            final long begin = sequence < redirectedEnd ? forecast.frameOf(sequence) : FrameForecast.NONE;
            if (begin != frame) {
                frame = begin;
                buffer = frame == FrameForecast.NONE ? PostedFrames.IN_RING : expect(frame);
            }
            redirect(data, ring.slot(sequence), buffer, (sequence - frame) * slotBytes);
        }
    }

    // The buffer of a frame. A frame behind the newest one takes a buffer only if there is one now.
    private int expect(final long frame) {
        final int slot = ring.slot(frame);
        if (frame >= forecast.end() && frames.expect(frame, slot, forecast.bytesMax())) {
            expectedEnd = Math.max(expectedEnd, frame + forecast.slots());
        }
        final int buffer = frames.of(slot);
        return buffer >= 0 && frames.isGone(buffer) ? PostedFrames.GONE : buffer;
    }

    private void redirect(final LanePort data, final int slot, final int buffer, final long offset) {
        final int room = buffer < 0 ? 0 : Math.clamp(frames.bytes(buffer) - offset, 0, slotBytes);
        if (room > 0) {
            places[slot] = PostedOffset.of(buffer) + offset;
            data.redirect(slot, buffer, offset, room);
        } else if (places[slot] != IN_SLOT) {
            places[slot] = IN_SLOT;
            data.redirect(slot, BufferQueue.NONE, 0, 0);
        }
    }

    @Override
    public void accept(final int slot, final long sequence, final int count, final int bytes) {
        if (isPlain(sequence + count)) {
            placement.accept(slot, sequence, count, bytes);
            return;
        }
        final long index = frameIndex(slot);
        learn(dataSlots, slot, sequence - index);
        final int buffer = decide(slot, sequence - index);
        final long to = placeIn(buffer, index);
        if (buffer == PostedFrames.GONE || isThere(slot, sequence, to, count)) {
            return;
        }
        for (int i = 0; i < count; i++) {
            targets[scratch.count()] = to == IN_SLOT ? IN_SLOT : to + (long) i * slotBytes;
            takeOut(slot + i, sequence + i, i == 0 ? bytes : slotBytes);
        }
    }

    private long placeIn(final int buffer, final long frameIndex) {
        return buffer < 0 ? IN_SLOT : PostedOffset.of(buffer) + frameIndex * slotBytes;
    }

    // From a datagram that came: where the frames behind its own may begin.
    private void learn(final SlotMemory slots, final int slot, final long first) {
        final long bytes = FrameForecast.frameBytes(slots.headers(), slots.headerOffset(slot));
        giveUp(frames.confirm(ring.slot(first), bytes == 0 ? Long.MAX_VALUE : bytes));
        if (!forecast.expects(first, bytes)) {
            withdraw();
        }
        forecast.learn(first, bytes);
        expectedEnd = Math.max(expectedEnd, forecast.end());
    }

    // No frame begins where one was expected, as far as is known.
    private void withdraw() {
        for (long frame = forecast.end(); frame < expectedEnd; frame += forecast.slots()) {
            giveUp(frames.withdraw(ring.slot(frame)));
        }
        expectedEnd = forecast.end();
    }

    @Override
    boolean yieldBuffer() {
        // The buffer that was posted first.
        for (long frame = forecast.end(); frame < expectedEnd; frame += forecast.slots()) {
            final int buffer = frames.withdraw(ring.slot(frame));
            if (buffer != BufferQueue.NONE) {
                frames.giveBack(buffer);
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
            frames.giveBack(withdrawn[i]);
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
    private void takeOut(final int slot, final long sequence, final int bytes) {
        final long place = places.length == 0 ? IN_SLOT : places[slot];
        final int inBuffer = place == IN_SLOT ? 0 : (int) Math.min(bytes, room(place));
        scratch.copy(Space.POSTED, place, 0, inBuffer);
        scratch.copy(Space.RING, (long) slot * slotBytes + inBuffer, inBuffer, bytes - inBuffer);
        scratch.add(sequence, bytes);
    }

    private long room(final long place) {
        return frames.bytes(PostedOffset.number(place)) - PostedOffset.within(place);
    }

    @Override
    public void endBatch() {
        for (int i = 0; i < scratch.count(); i++) {
            place(Space.SCRATCH, i, scratch.sequence(i), targets[i], scratch.bytes(i));
            targets[i] = IN_SLOT;
        }
        scratch.clear();
        giveBackWithdrawn();
    }

    @Override
    public void repaired(final long sequence, final long frameIndex, final int repairSlot, final int bytes) {
        if (isPlain(sequence + 1)) {
            placement.repaired(sequence, frameIndex, repairSlot, bytes);
            return;
        }
        learn(memory.repairs(), repairSlot, sequence - frameIndex);
        giveBackWithdrawn();
        final int buffer = frames.decideForRing(ring.slot(sequence - frameIndex));
        if (buffer != PostedFrames.GONE) {
            place(Space.REPAIR, repairSlot, sequence, placeIn(buffer, frameIndex), bytes);
        }
    }

    private void place(final Space from, final int slot, final long sequence, final long to, final int bytes) {
        if (to == IN_SLOT) {
            placement.place(from, slot, sequence, bytes);
        } else {
            copy(from, slot * (long) slotBytes, to, bytes);
            placement.onMoved(sequence, bytes);
        }
    }

    @Override
    int bufferOf(final ReceivedFrame frame) {
        final int buffer = super.bufferOf(frame);
        // Where a frame was expected in the middle of this one.
        frames.drop(ring.slot(frame.firstSequence()) + 1, StreamInfo.slots(frame.bytes(), slotBytes) - 1);
        return buffer;
    }

    @Override
    public void skip(final long firstSequence, final long endSequence) {
        withdraw();
        giveBackWithdrawn();
        super.skip(firstSequence, endSequence);
    }

    @Override
    public void rewind(final long next) {
        withdraw();
        giveBackWithdrawn();
        super.rewind(next);
    }
}
