package io.framecast.api.spi;

import org.jspecify.annotations.Nullable;

/// One lane of one session, at one end: a queue pair, a socket, a publication and subscription.
///
/// Threading: one thread at a time, which may change only with a happens-before edge. No method blocks or
/// allocates in steady state. Failures that end the lane throw [io.framecast.api.error.TransportException];
/// everything that a network may do (loss, unreachable peers, full buffers) is a smaller return value and a
/// counter.
public interface Lane extends AutoCloseable {
    /// The capacity of a lane that loses no datagram for lack of room outside its ring.
    int UNLIMITED = Integer.MAX_VALUE;

    /// Where peers reach this lane by unicast. Stable from open to close.
    LaneAddress address();

    /// Posts `count` consecutive slots of the receive ring, beginning at `firstSlot` and wrapping at the ring's
    /// end. BY_ARRIVAL lanes append them to the posted slots; BY_SEQUENCE lanes replace the posted slots.
    ///
    /// @return how many were accepted: fewer when the queue is full
    int post(int firstSlot, int count);

    /// Whether [#redirect] works.
    default boolean canRedirect() {
        return false;
    }

    /// Redirects a slot of the receive ring to other memory of the ring's device. From the next [#post] on, the
    /// first `bytes` bytes of a payload that takes the slot go there. The rest of a longer payload goes to
    /// the slot,
    /// or the datagram is dropped and counted as truncated (verbs).
    ///
    /// @param memory valid until the slot is redirected again and posted anew; null for the slot itself
    /// @param offset of the first byte in `memory`
    /// @return false where this lane cannot receive into `memory`: the slot keeps its own
    default boolean redirect(final int slot, final @Nullable DeviceRegion memory, final long offset, final int bytes) {
        throw new UnsupportedOperationException("slots of this lane have one place each");
    }

    /// Takes datagrams that arrived, into posted slots, in order of arrival; perhaps not all.
    ///
    /// @return receive completions written to `completions`, 0 when there is nothing or no slot
    int poll(Completions completions);

    /// A descriptor of the operating system that polls readable while a datagram waits in this lane; it stays
    /// the lane's. For lanes where so much arrives that a wake-up by a set of descriptors costs more than it
    /// saves.
    ///
    /// @return -1 where there is none, or when the lane is closed
    default int readyDescriptor() {
        return -1;
    }

    /// The owner is about to look once more and then to sleep: a datagram that comes from now on makes
    /// [#readyDescriptor] readable. For lanes whose descriptor reports only completions that were asked for
    /// (completion channels of verbs).
    default void armReady() {}

    /// How many full-size datagrams may be on their way to this lane before one is lost for lack of room
    /// outside the ring (udp: effective SO_RCVBUF ÷ measured truesize; verbs: the posted slots, so [#UNLIMITED]).
    int receiveCapacity();

    /// Sends `count` consecutive slots of the send ring, wrapping at its end, each once to the whole group.
    ///
    /// @return how many were accepted, from the first on: fewer under back-pressure
    int multicast(int firstSlot, int count);

    /// Like [#multicast], to one peer.
    ///
    /// @param peer a handle from [#connect]
    int unicast(int peer, int firstSlot, int count);

    /// Sends accepted since the lane opened.
    long submitted();

    /// Bytes that were sent and wait in the operating system until the link is free, roughly; 0 where that is not
    /// known. A source that finds many waits with new data, so that repairs need not wait behind it.
    default long queuedBytes() {
        return 0;
    }

    /// Sends that left this process and whose memory may be reused: a count that follows [#submitted], in
    /// order. A source announces to its receivers only sends that are completed.
    long completed();

    /// A handle for [#unicast] to a peer's address. Handles are small integers, reused after [#disconnect].
    ///
    /// @throws io.framecast.api.error.TransportException when the address is not one of this transport's, or
    ///     the lane holds as many peers as it can
    int connect(LaneAddress peer);

    void disconnect(int peer);

    /// Counters for an operator: one per reason; see [LaneCounter].
    long counter(LaneCounter counter);

    /// Idempotent. Posted slots are given back without a completion.
    @Override
    void close();
}
