package io.framecast.reliability.assembly;

import java.lang.foreign.MemorySegment;

/// A receiver's payload memory in one session, on any device: spaces of bytes, and copies between them. Copies
/// may end later; they are numbered in the order in which they begin, and end in that order.
///
/// Threading: one thread.
public interface FrameMemory {
    /// A space of payload bytes. Offsets are in bytes from its start.
    enum Space {
        /// `[ringSlots][slotBytes]`: the frames as the user sees them. A range that passes its end goes on at its
        /// start; or behind it, in the tail of a [MemoryShape] that has one, unless the ring is mapped twice.
        RING,
        /// `[stagingSlots][slotBytes]`: the data lane lands payloads here that are copied on to the ring.
        STAGING,
        /// `[repairSlots + readSlots][slotBytes]`: repairs land here, and behind them RDMA reads.
        REPAIR,
        /// `[batchMax][slotBytes]`: for payloads of one batch that arrived in each other's slots.
        SCRATCH,
        /// `[buffers][bufferBytes]`: frames that do not lie in one piece in the ring.
        REASSEMBLY,
        /// The buffers of a [BufferQueue], each at its [PostedOffset].
        POSTED
    }

    /// The receive slots of the data lane: the ring, or the staging space.
    SlotMemory data();

    /// The receive slots of the repair lane, with those of RDMA reads behind them.
    SlotMemory repairs();

    /// Whether the ring's memory is followed by itself, so that a frame which passes its end lies in one piece.
    boolean isRingMappedTwice();

    /// True where the host reads the ring as it reads its own memory, also the datagrams that an earlier holder
    /// of a membership left there.
    default boolean isRingInHost() {
        return false;
    }

    /// Begins a copy.
    void copy(Space from, long fromOffset, Space to, long toOffset, long bytes);

    /// A batch of copies is complete: [#completed] will count them when they have ended.
    void flush();

    /// Copies begun so far.
    long submitted();

    /// Number of copies, from the first on, that are known to have ended: their sources may be overwritten.
    long completed();

    /// Whether work that waits for an event recorded now sees the first `copies` copies.
    boolean isVisible(long copies);

    /// Bytes of a space that the host can read, `bytes` long; valid until the next call. Waits where a device
    /// must copy them first.
    MemorySegment read(Space space, long offset, int bytes);
}
