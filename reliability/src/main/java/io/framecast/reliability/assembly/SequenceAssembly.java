package io.framecast.reliability.assembly;

import io.framecast.reliability.assembly.FrameMemory.Space;
import io.framecast.reliability.receive.ReceivedFrame;
import io.framecast.reliability.wire.DataLayout;
import java.lang.foreign.MemorySegment;

/// A ring addressed by sequence, and the user's buffers, into which frames are received instead.
abstract sealed class SequenceAssembly extends Assembly permits RingAssembly, StagedAssembly {
    protected final RingLedger ring;
    protected final PostedFrames posted;
    // First slot of the frame or bundle delivered last.
    private int takenSlot;
    // The user's buffer in which it lies.
    private int takenBuffer = PostedFrames.IN_RING;

    SequenceAssembly(final MemoryShape shape, final FrameMemory memory) {
        this(shape, memory, new RingLedger(shape.ringSlots()));
    }

    private SequenceAssembly(final MemoryShape shape, final FrameMemory memory, final RingLedger ring) {
        super(shape, memory, ring);
        this.ring = ring;
        posted = new PostedFrames(shape.ringSlots());
    }

    @Override
    public void start(final long firstSequence, final BufferQueue buffers) {
        super.start(firstSequence, buffers);
        posted.take(buffers);
    }

    @Override
    void take(final ReceivedFrame frame) {
        takenSlot = ring.slot(frame.firstSequence());
        takenBuffer = posted.leave(takenSlot);
    }

    final int takenSlot() {
        return takenSlot;
    }

    /// Where a frame of the slots delivered last begins in the ring.
    final long offsetOf(final ReceivedFrame frame) {
        return (long) takenSlot * shape.slotBytes() + frame.slotOffset();
    }

    @Override
    public final boolean isPosted() {
        return takenBuffer >= 0;
    }

    @Override
    public final boolean isGone() {
        return takenBuffer == PostedFrames.GONE;
    }

    /// Where the frame of datagrams that came on the data lane lies: its buffer, or a value below 0.
    ///
    /// @param header of the first of them
    final int decide(final MemorySegment headers, final long header, final long first, final long end) {
        if (!posted.isUsed()) {
            posted.pass(end);
            return PostedFrames.IN_RING;
        }
        // The frames of a bundle have buffers of their own.
        return DataLayout.isBundle(headers, header)
                ? PostedFrames.IN_RING
                : posted.decide(first, ring.slot(first), DataLayout.FRAME_BYTES.unsigned(headers, header));
    }

    /// Where the frame of a repair lies.
    final int decideForRepair(final long first, final long end) {
        if (!posted.isUsed()) {
            posted.pass(end);
            return PostedFrames.IN_RING;
        }
        return posted.decideForRing(ring.slot(first));
    }

    /// The frame delivered last lies in the user's buffer, which is the caller's from now on.
    final boolean locatePosted(final boolean untouched) {
        final long at = BufferQueue.offset(takenBuffer);
        takenBuffer = PostedFrames.IN_RING;
        return locatedAt(Space.POSTED, at, untouched);
    }

    /// Copies a frame out of the ring, which is its place then.
    final boolean locateCopy(final ReceivedFrame frame, final Space to, final long toOffset) {
        memory.copy(Space.RING, offsetOf(frame), to, toOffset, frame.bytes());
        memory.flush();
        reassembled(frame.bytes());
        return locatedAt(to, toOffset, false);
    }

    /// Copies datagrams of a frame to its place. Where that is a buffer which its owner freed, the frame is lost.
    final void copyTo(final Space from, final long fromOffset, final Space to, final long offset, final long bytes) {
        try {
            memory.copy(from, fromOffset, to, offset, bytes);
        } catch (final IllegalStateException e) {
            if (to != Space.POSTED || !posted.isGone(BufferQueue.number(offset))) {
                throw e;
            }
        }
    }

    @Override
    public final void drop(final long place) {
        posted.giveBack(takenBuffer);
        takenBuffer = PostedFrames.IN_RING;
        super.drop(place);
    }

    @Override
    public void skip(final long firstSequence, final long endSequence) {
        posted.drop(ring.slot(firstSequence), endSequence - firstSequence);
        super.skip(firstSequence, endSequence);
    }

    @Override
    public final void leave() {
        posted.close();
    }

    @Override
    public final long ringOffset(final long sequence) {
        return (long) ring.slot(sequence) * shape.slotBytes();
    }
}
