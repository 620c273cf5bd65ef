package io.framecast.reliability.assembly;

/// The frames of a [ArrivalPlacement] that the user holds. A place is a number of its own: reassembled frames have
/// left the ring, and the user may hold them for any time.
///
/// Pure state; one thread; allocates only in its constructor.
public final class ArrivalLedger implements FrameLedger {
    private final ArrivalPlacement placement;
    private ArrivalPlacement.Copies copies = (_, _, _, _) -> {};
    // By place.
    private final long[] handles;
    private final long[] lengths;
    private final byte[] sharing;
    private final int[] free;
    private int freeCount;
    private int held;
    private long heldSlots;
    private long next;
    private long lastHandle;

    /// Makes a ledger of no frames.
    ///
    /// @param frames frames, or bundles of them, that may be held at a time: slots of the ring and reassembly
    ///     buffers
    public ArrivalLedger(final ArrivalPlacement placement, final int frames) {
        this.placement = placement;
        handles = new long[frames];
        lengths = new long[frames];
        sharing = new byte[frames];
        free = new int[frames];
        for (int i = 0; i < frames; i++) {
            free[i] = frames - 1 - i;
        }
        freeCount = frames;
    }

    /// Before the first frame is delivered: sets the taker of the copies that reassemble frames.
    void copyBy(final ArrivalPlacement.Copies taker) {
        copies = taker;
    }

    @Override
    public void start(final long firstSequence) {
        placement.start(firstSequence);
        next = firstSequence;
    }

    @Override
    public boolean canDeliver(final long firstSequence, final long slots) {
        return freeCount > 0 && placement.canComplete(firstSequence, slots);
    }

    @Override
    public long deliver(final long firstSequence, final long slots, final int frames) {
        if (frames < 1 || frames > Byte.MAX_VALUE || freeCount == 0 || firstSequence != next) {
            throw new IllegalStateException(frames + " frame(s) at " + firstSequence + " delivered, expected at " + next
                    + " with room for " + freeCount);
        }
        lastHandle = placement.complete(firstSequence, slots, copies);
        final int place = free[--freeCount];
        handles[place] = lastHandle;
        lengths[place] = slots;
        sharing[place] = (byte) frames;
        next += slots;
        held += frames;
        heldSlots += slots;
        return place;
    }

    /// The handle of the frames delivered last, as [ArrivalPlacement#complete] returned it.
    public long lastHandle() {
        return lastHandle;
    }

    @Override
    public boolean release(final long place) {
        final int index = (int) place;
        if (place < 0 || place >= sharing.length || sharing[index] == 0) {
            throw new IllegalStateException("frame at " + place + " is not held");
        }
        held--;
        sharing[index]--;
        if (sharing[index] > 0) {
            return false;
        }
        heldSlots -= lengths[index];
        free[freeCount++] = index;
        if (handles[index] >= 0) {
            placement.releaseRun(handles[index], lengths[index]);
        } else {
            placement.releaseBuffer((int) (-1 - handles[index]));
        }
        return true;
    }

    @Override
    public long skip(final long firstSequence, final long endSequence) {
        if (firstSequence != next || endSequence <= firstSequence) {
            throw new IllegalStateException(
                    "frames of " + firstSequence + " … " + endSequence + " given up, expected at " + next);
        }
        placement.skip(firstSequence, endSequence);
        next = endSequence;
        return 0;
    }

    @Override
    public int framesHeld() {
        return held;
    }

    @Override
    public long releasedSequence() {
        return next - heldSlots;
    }

    @Override
    public long creditLimit() {
        return placement.creditLimit();
    }
}
