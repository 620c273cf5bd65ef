package io.framecast.reliability.assembly;

import io.framecast.reliability.assembly.FrameMemory.Space;
import io.framecast.reliability.lane.LanePort;
import io.framecast.reliability.receive.BundleTable;
import io.framecast.reliability.receive.ReceivedFrame;
import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.repair.RepairRequests;
import org.jspecify.annotations.Nullable;

/// Receives frames into the buffers that the user posts, around a placement that knows of no buffers (Chu et al.
/// 2019, §4.2, Algorithm 1: receives are built from the user's buffers). A frame without a buffer goes the
/// placement's way. Where a buffer is posted by the time that such a frame is whole, the frame is copied there.
///
/// Each kind of placement has its own decorator, which decides what frames take buffers before they are whole.
abstract sealed class PostedAssembly extends Assembly permits PostedSequence, PostedArrivals {
    private final Assembly placement;
    private final BufferQueue buffers;
    private boolean canRedirect;
    // The buffer of the frame delivered last; below 0 for none.
    private int taken = BufferQueue.NONE;

    PostedAssembly(final Assembly placement, final BufferQueue buffers) {
        super(placement);
        this.placement = placement;
        this.buffers = buffers;
    }

    /// The user's buffers.
    final BufferQueue buffers() {
        return buffers;
    }

    /// The user's buffers where the lane can receive into them; else none.
    final BufferQueue redirectable() {
        return canRedirect ? buffers : BufferQueue.EMPTY;
    }

    /// The placement gives out a frame.
    ///
    /// @return the frame's buffer, the caller's from now on; [PostedFrames#GONE], or another value below 0 for
    ///     none
    abstract int bufferOf(ReceivedFrame frame);

    /// A frame that is whole needs a buffer: gives one back that was taken for a frame of which nothing has come.
    ///
    /// @return false when there is none
    boolean yieldBuffer() {
        return false;
    }

    @Override
    public final int prepare(final LanePort data) {
        // Encrypted payloads are opened in their slots, and copied to the user's buffers then.
        canRedirect = data.canRedirect() && !shape.stream().seal().isEncrypting();
        return placement.prepare(data);
    }

    @Override
    public void start(final long firstSequence) {
        placement.start(firstSequence);
    }

    @Override
    public int poll(final LanePort data, final @Nullable ReceiverMachine expected) {
        return placement.poll(data, expected);
    }

    @Override
    public void reject(final int slot) {
        placement.reject(slot);
    }

    @Override
    public final boolean reserve(
            final long firstSequence, final long slots, final RepairRequests requests, final long nowNs) {
        return placement.reserve(firstSequence, slots, requests, nowNs);
    }

    @Override
    public void repaired(final long sequence, final long frameIndex, final int repairSlot, final int bytes) {
        placement.repaired(sequence, frameIndex, repairSlot, bytes);
    }

    @Override
    public final void renew(final RepairRequests requests, final long nowNs) {
        placement.renew(requests, nowNs);
    }

    @Override
    public final long refusedRepairs() {
        return placement.refusedRepairs();
    }

    @Override
    final void take(final ReceivedFrame frame) {
        placement.take(frame);
        taken = bufferOf(frame);
    }

    /// Whether the frame delivered last was received into a buffer.
    final boolean isPosted() {
        return taken >= 0;
    }

    @Override
    public final boolean isGone() {
        return taken == PostedFrames.GONE;
    }

    @Override
    public final boolean openBundle(final ReceivedFrame bundle, final BundleTable table) {
        return placement.openBundle(bundle, table);
    }

    @Override
    public final boolean locate(final ReceivedFrame frame, final long place) {
        if (isPosted()) {
            final long at = PostedOffset.of(taken);
            taken = BufferQueue.NONE;
            return locatedAt(Space.POSTED, at, placement.isUntouched(frame));
        }
        final int buffer = takeBuffer(frame.bytes());
        return buffer == BufferQueue.NONE
                ? placement.locate(frame, place)
                        && locatedAt(placement.space(), placement.offset(), placement.isInPlace())
                : locateCopy(frame, buffer);
    }

    // Frames that are here come before those that are expected.
    private int takeBuffer(final long bytes) {
        final int buffer = buffers.take(bytes);
        return buffer == BufferQueue.NONE && yieldBuffer() ? buffers.take(bytes) : buffer;
    }

    private boolean locateCopy(final ReceivedFrame frame, final int buffer) {
        try {
            placement.copyOut(frame, Space.POSTED, PostedOffset.of(buffer));
        } catch (final IllegalStateException e) {
            if (buffers.isGone(buffer)) {
                // The frame takes the next buffer in the next cycle.
                return false;
            }
            throw e;
        }
        return locatedAt(Space.POSTED, PostedOffset.of(buffer), false);
    }

    @Override
    final void copyOut(final ReceivedFrame frame, final Space to, final long toOffset) {
        placement.copyOut(frame, to, toOffset);
    }

    @Override
    public final void drop(final long place) {
        if (isPosted()) {
            buffers.giveBack(taken);
        }
        taken = BufferQueue.NONE;
        super.drop(place);
    }

    @Override
    public final void release(final long place) {
        placement.release(place);
    }

    @Override
    public void skip(final long firstSequence, final long endSequence) {
        placement.skip(firstSequence, endSequence);
    }

    @Override
    public void rewind(final long next) {
        placement.rewind(next);
    }

    @Override
    public final long ringOffset(final long sequence) {
        return placement.ringOffset(sequence);
    }

    @Override
    public final long reassembledBytes() {
        return placement.reassembledBytes();
    }
}
