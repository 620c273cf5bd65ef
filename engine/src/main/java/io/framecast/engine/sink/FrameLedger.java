package io.framecast.engine.sink;

/// Frames handed out and not yet given back, in order of delivery, and what that means for the ring: slots return in
/// that
/// order, whatever the order of release. Bounded; one thread.
public final class FrameLedger {
    private final long[] ends;
    private final boolean[] released;
    private final int ringSlots;
    private long head;
    private long tail;
    private long releasedSequence;

    /// Makes a ledger.
    ///
    /// @param framesMax a power of two: frames handed out at once
    public FrameLedger(final int framesMax, final int ringSlots) {
        if (Integer.bitCount(framesMax) != 1) {
            throw new IllegalArgumentException("frames: expected a power of two, got " + framesMax);
        }
        ends = new long[framesMax];
        released = new boolean[framesMax];
        this.ringSlots = ringSlots;
    }

    /// The first sequence of the session: the ring is empty.
    public void start(final long firstSequence) {
        releasedSequence = firstSequence;
    }

    public boolean isFull() {
        return tail - head == ends.length;
    }

    public boolean isEmpty() {
        return tail == head;
    }

    /// Hands out the frame that ends before `endSequence`.
    ///
    /// @return its ticket, for [#release]
    public long deliver(final long endSequence) {
        final int index = (int) tail & ends.length - 1;
        ends[index] = endSequence;
        released[index] = false;
        return tail++;
    }

    /// Takes a frame back.
    public void release(final long ticket) {
        released[(int) ticket & ends.length - 1] = true;
        while (head < tail && released[(int) head & ends.length - 1]) {
            releasedSequence = ends[(int) head & ends.length - 1];
            head++;
        }
    }

    /// Sequences below have a slot.
    public long creditLimit() {
        return releasedSequence + ringSlots;
    }
}
