package io.framecast.reliability.assembly;

import io.framecast.reliability.assembly.FrameMemory.Space;
import io.framecast.reliability.receive.ReceivedFrame;
import io.framecast.reliability.wire.DataLayout;

/// Receives frames into the user's buffers instead of a ring addressed by sequence.
abstract sealed class PostedSequence extends PostedAssembly permits PostedRing, PostedStaging {
    protected final RingLedger ring;
    protected final PostedFrames frames;
    protected final SlotMemory dataSlots;
    protected final int slotBytes;

    PostedSequence(final SequenceAssembly placement, final BufferQueue buffers) {
        super(placement, buffers);
        ring = placement.ring;
        frames = new PostedFrames(shape.ringSlots());
        dataSlots = memory.data();
        slotBytes = shape.slotBytes();
    }

    /// Whether no buffer was ever posted: then the datagrams before `end` lie in the ring.
    final boolean isPlain(final long end) {
        if (frames.isUsed()) {
            return false;
        }
        frames.pass(end);
        return true;
    }

    /// The position of a datagram in its frame.
    final long frameIndex(final int slot) {
        return DataLayout.FRAME_INDEX.unsigned(dataSlots.headers(), dataSlots.headerOffset(slot));
    }

    /// Where the frame of datagrams that came on the data lane lies: its buffer, or a value below 0.
    ///
    /// @param slot of the first of them
    /// @param first sequence of the frame
    final int decide(final int slot, final long first) {
        final long header = dataSlots.headerOffset(slot);
        // The frames of a bundle have buffers of their own.
        return DataLayout.isBundle(dataSlots.headers(), header)
                ? PostedFrames.IN_RING
                : frames.decide(first, ring.slot(first), DataLayout.FRAME_BYTES.unsigned(dataSlots.headers(), header));
    }

    /// Copies a payload to its place in a buffer. The frame is lost where the buffer's owner has freed it.
    final void copy(final Space from, final long fromOffset, final long toOffset, final long bytes) {
        try {
            memory.copy(from, fromOffset, Space.POSTED, toOffset, bytes);
        } catch (final IllegalStateException e) {
            requireGone(toOffset, e);
        }
    }

    /// A copy to a place in a buffer failed: throws its failure unless the owner has freed the buffer.
    final void requireGone(final long toOffset, final IllegalStateException failure) {
        if (!frames.isGone(PostedOffset.number(toOffset))) {
            throw failure;
        }
    }

    @Override
    int bufferOf(final ReceivedFrame frame) {
        return frames.leave(ring.slot(frame.firstSequence()));
    }

    @Override
    public void skip(final long firstSequence, final long endSequence) {
        frames.drop(ring.slot(firstSequence), endSequence - firstSequence);
        super.skip(firstSequence, endSequence);
    }

    @Override
    public final void leave() {
        frames.close();
    }
}
