package io.framecast.reliability.assembly;

/// Bookkeeping of a ring addressed by sequence: the frames that were delivered and are still held, the end of the
/// released ones, and the credit that follows.
///
/// A sequence's *place* is the sequence less the jumps so far, and its slot is its place, less the place where the
/// ring began anew, mod ringSlots. Frames are delivered in order and released in any order. Pure state; one thread;
/// allocates only in its constructor.
public final class RingLedger implements FrameLedger {
    private static final long NOT_HELD = -1;

    private final int ringSlots;
    private final int mask;
    // By first place: end of a frame, or a bundle of them, that is held or was released early.
    private final long[] ends;
    // By first place: frames there that are held.
    private final byte[] sharing;
    private long delivered;
    private long releasedTo;
    private int held;
    private long jumped;
    // The place of the first slot.
    private long origin;

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
        sharing = new byte[capacity];
    }

    @Override
    public void start(final long firstSequence) {
        java.util.Arrays.fill(ends, NOT_HELD);
        java.util.Arrays.fill(sharing, (byte) 0);
        delivered = firstSequence;
        releasedTo = firstSequence;
        held = 0;
        jumped = 0;
        origin = 0;
    }

    public int slot(final long sequence) {
        return (int) Math.floorMod(sequence - jumped - origin, (long) ringSlots);
    }

    @Override
    public boolean canDeliver(final long firstSequence, final long slots) {
        return true;
    }

    @Override
    public long deliver(final long firstSequence, final long slots, final int frames) {
        if (frames < 1 || frames > Byte.MAX_VALUE) {
            throw new IllegalArgumentException("frames that share slots: expected 1 … 127, got " + frames);
        }
        if (firstSequence != delivered + jumped || slots <= 0 || firstSequence + slots > creditLimit()) {
            throw new IllegalStateException("frame of " + slots + " slots at " + firstSequence
                    + " delivered, expected at " + (delivered + jumped) + " below " + creditLimit());
        }
        final long place = delivered;
        append(slots, frames);
        held += frames;
        return place;
    }

    /// The next frames, up to the one that begins at `endSequence`, are dropped. Their slots are free once all
    /// before them are. Where the ring has too few slots for them, sequences jump: the next frame takes the place
    /// of the first of these.
    ///
    /// @return by how much sequences jumped
    @Override
    public long skip(final long firstSequence, final long endSequence) {
        if (firstSequence != delivered + jumped || endSequence <= firstSequence) {
            throw new IllegalStateException("frames of " + firstSequence + " … " + endSequence
                    + " given up, expected at " + (delivered + jumped));
        }
        if (endSequence > creditLimit()) {
            jumped += endSequence - firstSequence;
            return endSequence - firstSequence;
        }
        append(endSequence - firstSequence, 0);
        advance();
        return 0;
    }

    private void append(final long slots, final int frames) {
        final int index = (int) delivered & mask;
        delivered += slots;
        ends[index] = delivered;
        sharing[index] = (byte) frames;
    }

    @Override
    public boolean release(final long place) {
        final int first = (int) place & mask;
        if (place < releasedTo || place >= delivered || ends[first] <= place || sharing[first] == 0) {
            throw new IllegalStateException("frame at " + place + " is not held");
        }
        sharing[first]--;
        held--;
        return advance();
    }

    private boolean advance() {
        final long before = releasedTo;
        while (releasedTo < delivered && sharing[(int) releasedTo & mask] == 0) {
            final int index = (int) releasedTo & mask;
            releasedTo = ends[index];
            ends[index] = NOT_HELD;
        }
        return releasedTo > before;
    }

    /// No frame is held and nothing has arrived from `next` on: that sequence takes the first slot, whose
    /// memory is still in the caches.
    public void rewind(final long next) {
        origin = next - jumped;
    }

    @Override
    public int framesHeld() {
        return held;
    }

    /// Every slot below belongs to the ring again.
    @Override
    public long releasedSequence() {
        return releasedTo + jumped;
    }

    @Override
    public long creditLimit() {
        return releasedTo + jumped + ringSlots;
    }
}
