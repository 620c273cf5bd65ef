package io.framecast.reliability.assembly;

/// Bookkeeping of a receiver's ring: the frames that were delivered and are still held, and the credit that
/// follows. Frames are delivered in order and released in any order.
///
/// Pure state; one thread.
public interface FrameLedger {
    /// Empties the ledger; the first frame begins at `firstSequence`.
    void start(long firstSequence);

    /// Whether the next frame, which is whole, can be delivered now; false while it waits for memory in which
    /// it would be in one piece.
    boolean canDeliver(long firstSequence, long slots);

    /// The next frames, which share their slots, go to the user; each of them is released.
    ///
    /// @param frames 1 … 127
    /// @return their place, for [#release]
    long deliver(long firstSequence, long slots, int frames);

    /// The user releases a frame; one of several that share their slots, if they do.
    ///
    /// @param place as [#deliver] returned it
    /// @return whether credit may have grown
    boolean release(long place);

    /// The next frames, up to the one that begins at `endSequence`, are dropped.
    ///
    /// @return by how much sequences jump against slots from there on
    long skip(long firstSequence, long endSequence);

    /// Frames delivered and not released.
    int framesHeld();

    /// The next frame's first sequence less the slots of frames that are held or wait behind held ones.
    long releasedSequence();

    /// Sequences below have a slot.
    long creditLimit();
}
