package io.framecast.reliability.assembly;

import io.framecast.reliability.assembly.FrameMemory.Space;

/// Payloads in staging memory are copied straight to the user's buffers instead of the ring. Which frames have
/// buffers is known when their first datagram is there, so the lane has no part in it.
final class PostedStaging extends PostedSequence {
    private final StagedAssembly placement;

    PostedStaging(final StagedAssembly placement, final BufferQueue buffers) {
        super(placement, buffers);
        this.placement = placement;
    }

    @Override
    public void start(final long firstSequence) {
        super.start(firstSequence);
        frames.start(buffers());
    }

    @Override
    public void accept(final int slot, final long sequence, final int count, final int bytes) {
        if (isPlain(sequence + count)) {
            placement.accept(slot, sequence, count, bytes);
            return;
        }
        final long index = frameIndex(slot);
        final int buffer = decide(slot, sequence - index);
        if (buffer == PostedFrames.IN_RING) {
            if (placement.runSpace() == Space.POSTED) {
                copyRun();
            }
            placement.accept(slot, sequence, count, bytes);
        } else if (buffer != PostedFrames.GONE) {
            gather(slot, count, PostedOffset.of(buffer) + index * slotBytes, bytes + (count - 1L) * slotBytes);
        }
    }

    private void gather(final int slot, final int count, final long offset, final long bytes) {
        if (!placement.continuesRun(slot, Space.POSTED, offset)) {
            copyRun();
        }
        placement.gather(slot, count, Space.POSTED, offset, bytes);
    }

    private void copyRun() {
        try {
            placement.copyRun();
        } catch (final IllegalStateException e) {
            if (placement.runSpace() != Space.POSTED) {
                throw e;
            }
            requireGone(placement.runOffset(), e);
        }
    }

    @Override
    public void endBatch() {
        copyRun();
        placement.endBatch();
    }

    @Override
    public void repaired(final long sequence, final long frameIndex, final int repairSlot, final int bytes) {
        final int buffer =
                isPlain(sequence + 1) ? PostedFrames.IN_RING : frames.decideForRing(ring.slot(sequence - frameIndex));
        if (buffer == PostedFrames.IN_RING) {
            placement.repaired(sequence, frameIndex, repairSlot, bytes);
        } else if (buffer != PostedFrames.GONE) {
            final long from = memory.repairs().payloadOffset(repairSlot);
            copy(Space.REPAIR, from, PostedOffset.of(buffer) + frameIndex * slotBytes, bytes);
        }
    }
}
