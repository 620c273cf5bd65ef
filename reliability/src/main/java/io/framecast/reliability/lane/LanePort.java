package io.framecast.reliability.lane;

/// One lane of one session, as the protocol sees it: posts receive slots, takes datagrams that arrived, sends slots
/// of the send ring. An adapter wraps a transport's lane one to one, a call for each batch.
///
/// Threading: one thread. Nothing blocks or allocates in steady state.
public interface LanePort {
    /// How posted slots are used.
    enum Placement {
        /// [#post] replaces the posted slots, so a payload can go straight to the slot of its sequence.
        BY_SEQUENCE,
        /// [#post] appends to the posted slots, and each datagram takes the slot that was posted first.
        BY_ARRIVAL
    }

    Placement placement();

    /// Posts `count` consecutive receive slots from `firstSlot` on, wrapping at the ring's end.
    ///
    /// @return how many were accepted, from the first on
    int post(int firstSlot, int count);

    /// Whether [#redirect] works.
    default boolean canRedirect() {
        return false;
    }

    /// Redirects a receive slot to a buffer of the user's. From the next [#post] on, the first `bytes` bytes of a
    /// payload that takes the slot go there. The rest of a longer payload goes to the slot, or the
    /// datagram is lost.
    ///
    /// @param buffer its number; below 0 for the slot itself
    /// @param offset of the first byte in the buffer
    /// @return false where the lane cannot receive into the buffer: the slot keeps its own memory
    default boolean redirect(final int slot, final int buffer, final long offset, final int bytes) {
        throw new UnsupportedOperationException("slots of this lane have one place each");
    }

    /// Takes a batch of datagrams, in order of arrival. [#slot] and [#bytes] describe it until the next call.
    ///
    /// @return datagrams taken
    int poll();

    /// Most datagrams that one [#poll] takes.
    int batchMax();

    /// The slot in which datagram `index` of the last batch arrived.
    int slot(int index);

    /// Length of datagram `index` of the last batch, header and payload, in bytes.
    int bytes(int index);
}
