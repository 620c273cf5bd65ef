package io.framecast.reliability.assembly;

/// Which frames of a ring that is addressed by sequence are received into the user's buffers. That is decided once for
/// each frame, when its first datagram comes on the data lane (Chu et al. 2019, §4.2, Algorithm 1: receives are built
/// from the user's buffers): it takes the next buffer, or it lies in the ring. A frame of which a repair comes first
/// lies in the ring, for those behind it may have taken buffers by then.
///
/// Nothing is noted until a buffer is posted. One thread; allocates only in its constructor and at the first buffer.
final class PostedFrames {
    /// The frame lies in the ring.
    static final int IN_RING = -1;
    /// The owner of the frame's buffer has freed it: the frame is lost.
    static final int GONE = -2;

    private static final int UNDECIDED = 0;
    private static final int RING_NOTE = 1;
    private static final int GONE_NOTE = 2;
    private static final int BUFFER_NOTE = 3;

    private final int ringSlots;
    private BufferQueue buffers = BufferQueue.EMPTY;
    // By the slot of a frame's first sequence; empty before a buffer was posted.
    private int[] notes = {};
    // Frames that begin before have datagrams in the ring.
    private long decidedBefore;

    PostedFrames(final int ringSlots) {
        this.ringSlots = ringSlots;
    }

    void take(final BufferQueue queue) {
        buffers = queue;
    }

    /// Decides for the frame of datagrams that came on the data lane.
    ///
    /// @param first sequence of the frame
    /// @param slot its slot
    /// @param end behind the datagrams
    /// @return the frame's buffer, [#IN_RING] or [#GONE]
    int decide(final long first, final int slot, final long frameBytes, final long end) {
        if (notes.length > 0 && notes[slot] != UNDECIDED) {
            return of(slot);
        }
        final int buffer = first < decidedBefore ? BufferQueue.NONE : buffers.takeBuffer(frameBytes);
        if (notes.length == 0) {
            if (buffer == BufferQueue.NONE) {
                decidedBefore = Math.max(decidedBefore, end);
                return IN_RING;
            }
            notes = new int[ringSlots];
        }
        notes[slot] = buffer == BufferQueue.NONE ? RING_NOTE : BUFFER_NOTE + buffer;
        return of(slot);
    }

    /// The frame of a repair, which lies in the ring where nothing of it came before.
    ///
    /// @param slot of its first sequence
    int decideByRepair(final int slot, final long end) {
        if (notes.length == 0) {
            decidedBefore = Math.max(decidedBefore, end);
            return IN_RING;
        }
        notes[slot] = notes[slot] == UNDECIDED ? RING_NOTE : notes[slot];
        return of(slot);
    }

    private int of(final int slot) {
        return notes[slot] >= BUFFER_NOTE ? notes[slot] - BUFFER_NOTE : notes[slot] == GONE_NOTE ? GONE : IN_RING;
    }

    /// A copy into a frame's buffer failed.
    ///
    /// @return whether that was for the owner's sake: then the frame is lost, and nothing else
    boolean isGone(final int buffer) {
        if (!buffers.isBufferGone(buffer)) {
            return false;
        }
        for (int slot = 0; slot < notes.length; slot++) {
            notes[slot] = notes[slot] == BUFFER_NOTE + buffer ? GONE_NOTE : notes[slot];
        }
        return true;
    }

    /// A frame is whole, and leaves.
    ///
    /// @return its buffer, the caller's from now on; [#IN_RING] or [#GONE]
    int leave(final int slot) {
        if (notes.length == 0) {
            return IN_RING;
        }
        final int buffer = of(slot);
        notes[slot] = UNDECIDED;
        return buffer;
    }

    /// The frames that begin in these slots are dropped, whatever has arrived of them.
    void drop(final int firstSlot, final long slots) {
        if (notes.length == 0) {
            return;
        }
        for (long i = 0; i < Math.min(slots, ringSlots); i++) {
            giveBack(leave((int) ((firstSlot + i) % ringSlots)));
        }
    }

    /// Nothing arrives any more.
    void close() {
        drop(0, ringSlots);
    }

    void giveBack(final int buffer) {
        if (buffer >= 0) {
            buffers.returnBuffer(buffer);
        }
    }
}
