package io.framecast.reliability.placement;

/// Bookkeeping of a ring addressed by sequence (slot = sequence mod ringSlots): which frames were delivered and
/// are still held, up to where everything was released, and the credit that follows.
///
/// Frames are delivered in order and released in any order. Pure state; one thread; allocates only when made.
public final class RingLedger {
    private static final long NOT_HELD = -1;

    private final int ringSlots;
    private final int mask;
    // By first sequence: end of a frame that is held or was released early.
    private final long[] ends;
    private final boolean[] released;
    private long delivered;
    private long releasedTo;
    private int held;

    /// Makes a ledger of an empty ring.
    public RingLedger(final int ringSlots) {
        if (ringSlots <= 0 || ringSlots > 1 << 30) {
            throw new IllegalArgumentException("ring slots: expected 1 … 2^30, got " + ringSlots);
        }
        this.ringSlots = ringSlots;
        final int capacity =
                Integer.highestOneBit(ringSlots) == ringSlots ? ringSlots : Integer.highestOneBit(ringSlots) << 1;
        mask = capacity - 1;
        ends = new long[capacity];
        released = new boolean[capacity];
    }

    /// Empties the ledger; the first frame begins at `firstSequence`.
    public void start(final long firstSequence) {
        java.util.Arrays.fill(ends, NOT_HELD);
        java.util.Arrays.fill(released, false);
        delivered = firstSequence;
        releasedTo = firstSequence;
        held = 0;
    }

    public int ringSlots() {
        return ringSlots;
    }

    public int slot(final long sequence) {
        return (int) (sequence % ringSlots);
    }

    /// Whether a run of slots passes the ring's end, so that its bytes are not contiguous.
    public boolean wraps(final long firstSequence, final long slots) {
        return slot(firstSequence) + slots > ringSlots;
    }

    /// The next frame goes to the user.
    public void deliver(final long firstSequence, final long slots) {
        if (firstSequence != delivered || slots <= 0 || firstSequence + slots > creditLimit()) {
            throw new IllegalStateException("frame of " + slots + " slots at " + firstSequence
                    + " delivered, expected at " + delivered + " below " + creditLimit());
        }
        final int index = (int) firstSequence & mask;
        ends[index] = firstSequence + slots;
        released[index] = false;
        delivered += slots;
        held++;
    }

    /// The user gives a frame back.
    ///
    /// @return whether credit grew
    public boolean release(final long firstSequence) {
        final int first = (int) firstSequence & mask;
        if (firstSequence < releasedTo
                || firstSequence >= delivered
                || ends[first] <= firstSequence
                || released[first]) {
            throw new IllegalStateException("frame at " + firstSequence + " is not held");
        }
        released[first] = true;
        held--;
        final long before = releasedTo;
        while (releasedTo < delivered && released[(int) releasedTo & mask]) {
            final int index = (int) releasedTo & mask;
            releasedTo = ends[index];
            ends[index] = NOT_HELD;
            released[index] = false;
        }
        return releasedTo > before;
    }

    /// Frames delivered and not released.
    public int framesHeld() {
        return held;
    }

    /// Every slot below belongs to the ring again.
    public long releasedSequence() {
        return releasedTo;
    }

    /// Sequences below have a slot.
    public long creditLimit() {
        return releasedTo + ringSlots;
    }
}
