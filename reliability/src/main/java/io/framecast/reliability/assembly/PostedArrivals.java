package io.framecast.reliability.assembly;

import io.framecast.reliability.assembly.FrameMemory.Space;
import io.framecast.reliability.lane.LanePort;
import io.framecast.reliability.receive.ReceivedFrame;
import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.StreamInfo;
import org.jspecify.annotations.Nullable;

/// Redirects receives of a ring in order of arrival to the user's buffers, which [ArrivalBuffers] chooses.
/// Payloads that arrived in the wrong place of a buffer are copied to their slots.
final class PostedArrivals extends PostedAssembly {
    // Receives that are redirected before the lane is asked whether it accepts them.
    private static final int REDIRECTED_RUN = 64;

    private final ArrivalAssembly placement;
    private final ArrivalBuffers redirected;
    private final SlotMemory dataSlots;
    private final int slotBytes;
    // Of the next post.
    private boolean redirects;
    // Since the last batch ended.
    private boolean moved;

    PostedArrivals(final ArrivalAssembly placement, final BufferQueue buffers) {
        super(placement, buffers);
        this.placement = placement;
        redirected = new ArrivalBuffers(shape, placement.forecast());
        dataSlots = memory.data();
        slotBytes = shape.slotBytes();
        placement.redirectBy(this::post, redirected, this::copyRun);
    }

    @Override
    public void start(final long firstSequence) {
        super.start(firstSequence);
        redirected.start(firstSequence, redirectable());
    }

    @Override
    public int poll(final LanePort data, final @Nullable ReceiverMachine expected) {
        final boolean used = redirected.isUsed();
        if (used) {
            placement.postTails();
        }
        // A co-root copies its datagrams from the slots.
        redirects = used && expected != null && !expected.mayKeep();
        return placement.poll(data, expected);
    }

    private int post(final LanePort data, final int firstSlot, final int count) {
        if (!redirects) {
            return data.post(firstSlot, count);
        }
        final int before = placement.postedFree();
        int posted = 0;
        boolean isFull = false;
        while (posted < count && !isFull) {
            final int first = (firstSlot + posted) % shape.ringSlots();
            final int wanted = Math.min(count - posted, REDIRECTED_RUN);
            final int accepted = redirect(data, first, wanted, before + posted);
            posted += accepted;
            isFull = accepted < wanted;
        }
        return posted;
    }

    private int redirect(final LanePort data, final int first, final int wanted, final int ahead) {
        for (int i = 0; i < wanted; i++) {
            redirected.redirect(data, (first + i) % shape.ringSlots(), ahead + i);
        }
        final int accepted = data.post(first, wanted);
        for (int i = wanted - 1; i >= accepted; i--) {
            redirected.undo((first + i) % shape.ringSlots());
        }
        return accepted;
    }

    @Override
    public void accept(final int slot, final long sequence, final int count, final int bytes) {
        if (redirected.isUsed()) {
            final long header = dataSlots.headerOffset(slot);
            final long index = DataLayout.FRAME_INDEX.unsigned(dataSlots.headers(), header);
            final long frameBytes = FrameForecast.frameBytes(dataSlots.headers(), header);
            for (int i = 0; i < count; i++) {
                if (!redirected.arrive(slot + i, sequence + i, index + i, frameBytes)) {
                    moveToSlot(slot + i, i == 0 ? bytes : slotBytes);
                }
            }
        }
        placement.accept(slot, sequence, count, bytes);
    }

    // A datagram arrived elsewhere in the user's buffers than its frame has it.
    private void moveToSlot(final int slot, final int bytes) {
        final long place = redirected.of(slot);
        final long there = Math.min(bytes, redirected.roomAt(place));
        memory.copy(Space.POSTED, place, Space.RING, (long) slot * slotBytes, there);
        placement.onCopied(bytes);
        redirected.leave(slot);
        moved = true;
    }

    @Override
    public void reject(final int slot) {
        redirected.reject(slot);
        super.reject(slot);
    }

    @Override
    public void endBatch() {
        placement.endBatch();
        if (moved) {
            moved = false;
            memory.flush();
        }
    }

    private void copyRun(final int fromSlot, final int toBuffer, final long frameIndex, final int slots) {
        if (redirected.isInSlot(fromSlot)) {
            placement.copyRun(fromSlot, toBuffer, frameIndex, slots);
            return;
        }
        final long place = redirected.of(fromSlot);
        final long bytes = (long) slots * slotBytes;
        final long there = Math.min(bytes, redirected.roomAt(place));
        memory.copy(Space.POSTED, place, Space.REASSEMBLY, placement.bufferOffset(toBuffer, frameIndex), there);
        placement.onCopied(bytes);
    }

    @Override
    int bufferOf(final ReceivedFrame frame) {
        if (!placement.isInSlots() || redirected.isInSlot(placement.takenSlot(0))) {
            return BufferQueue.NONE;
        }
        final int buffer = PostedOffset.number(redirected.of(placement.takenSlot(0)));
        for (long i = 0; i < StreamInfo.slots(frame.bytes(), slotBytes); i++) {
            redirected.handOver(placement.takenSlot(i));
        }
        return buffer;
    }

    @Override
    public void leave() {
        redirected.close();
    }
}
