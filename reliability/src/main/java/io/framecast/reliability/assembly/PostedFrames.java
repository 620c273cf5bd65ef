package io.framecast.reliability.assembly;

/// Which frames of a ring that is addressed by sequence are received into the user's buffers. That is decided
/// once for each frame, when its first datagram comes on the data lane or is expected there (Chu et al. 2019,
/// §4.2, Algorithm 1: receives are built from the user's buffers): it takes the next buffer, or it lies in the
/// ring. A frame of which a repair comes first lies in the ring, for later frames may have taken buffers by then.
///
/// Nothing is noted until a buffer is posted. One thread; allocates only in its constructor and at the first buffer.
final class PostedFrames {
    /// The frame lies in the ring.
    static final int IN_RING = -1;
    /// The owner of the frame's buffer has freed it: the frame is lost.
    static final int GONE = -2;
    /// Nothing of the frame has come, nor is any expected.
    static final int UNDECIDED = -3;

    // Added to the note of a frame of which nothing has come.
    private static final int EXPECTED = 1 << 16;

    private final int ringSlots;
    private BufferQueue buffers = BufferQueue.EMPTY;
    // By the slot of a frame's first sequence: the decision, less UNDECIDED. Empty before a buffer was posted.
    private int[] notes = {};
    // Frames that begin before have datagrams in the ring.
    private long decidedBefore;

    PostedFrames(final int ringSlots) {
        this.ringSlots = ringSlots;
    }

    void start(final BufferQueue queue) {
        buffers = queue;
    }

    /// Whether frames must be decided about, because a buffer is or was posted.
    boolean isUsed() {
        if (notes.length == 0 && buffers.buffers() > 0) {
            notes = new int[ringSlots];
        }
        return notes.length > 0;
    }

    /// While it is not used: datagrams before `end` have come.
    void pass(final long end) {
        decidedBefore = Math.max(decidedBefore, end);
    }

    /// Decides for a frame, unless that was done.
    ///
    /// @param first sequence of the frame
    /// @param slot its slot
    /// @return the frame's buffer, [#IN_RING] or [#GONE]
    int decide(final long first, final int slot, final long frameBytes) {
        if (of(slot) == UNDECIDED) {
            final int buffer = first < decidedBefore ? BufferQueue.NONE : buffers.take(frameBytes);
            note(slot, buffer == BufferQueue.NONE ? IN_RING : buffer);
        }
        return of(slot);
    }

    /// Takes a buffer, if one is posted, for a frame of which nothing has come.
    ///
    /// @param bytesMax length that it may have
    /// @return whether it has one now
    boolean expect(final long first, final int slot, final long bytesMax) {
        if (notes[slot] != 0 || buffers.buffers() == 0 || decide(first, slot, bytesMax) < 0) {
            return false;
        }
        notes[slot] += EXPECTED;
        return true;
    }

    /// Something came of a frame that may have been expected.
    ///
    /// @param bytes length of the frame; MAX_VALUE where it takes no buffer
    /// @return the buffer that it had and does not fit, the caller's from now on; else NONE
    int confirm(final int slot, final long bytes) {
        if (notes[slot] < EXPECTED) {
            return BufferQueue.NONE;
        }
        notes[slot] -= EXPECTED;
        return bytes <= buffers.bytes(of(slot)) ? BufferQueue.NONE : leave(slot);
    }

    /// Nothing is expected to begin in a slot any more.
    ///
    /// @return the buffer of the frame that was expected there, the caller's from now on; else NONE
    int withdraw(final int slot) {
        return notes[slot] < EXPECTED ? BufferQueue.NONE : leave(slot);
    }

    /// The frame lies in the ring unless something else was decided.
    int decideForRing(final int slot) {
        if (of(slot) == UNDECIDED) {
            note(slot, IN_RING);
        }
        return of(slot);
    }

    /// The decision for the frame that begins in a slot.
    int of(final int slot) {
        return (notes[slot] & EXPECTED - 1) + UNDECIDED;
    }

    private void note(final int slot, final int decision) {
        notes[slot] = decision - UNDECIDED;
    }

    /// Looks whether the owner of a frame's buffer has freed it.
    ///
    /// @return whether that is so: then the frame is lost if anything of it came, and nothing else
    boolean isGone(final int buffer) {
        if (!buffers.isGone(buffer)) {
            return false;
        }
        for (int slot = 0; slot < ringSlots; slot++) {
            if (of(slot) == buffer) {
                note(slot, notes[slot] < EXPECTED ? GONE : UNDECIDED);
            }
        }
        return true;
    }

    /// A frame is whole, and leaves.
    ///
    /// @return its buffer, the caller's from now on; else a value below 0
    int leave(final int slot) {
        if (notes.length == 0) {
            return IN_RING;
        }
        final int decision = of(slot);
        notes[slot] = 0;
        return decision;
    }

    /// The frames that begin in these slots are dropped, also if all of their datagrams have arrived.
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

    long bytes(final int buffer) {
        return buffers.bytes(buffer);
    }

    void giveBack(final int buffer) {
        if (buffer >= 0) {
            buffers.giveBack(buffer);
        }
    }
}
