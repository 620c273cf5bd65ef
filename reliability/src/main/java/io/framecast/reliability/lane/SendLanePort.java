package io.framecast.reliability.lane;

/// The sending side of one lane: sends slots of a ring to the group or to one peer. An adapter wraps a transport's
/// lane one to one, a call for each batch.
///
/// Threading: one thread. Nothing blocks or allocates in steady state.
public interface SendLanePort {
    /// No peer.
    int NO_PEER = -1;

    /// Makes a peer reachable.
    ///
    /// @param address from the wire
    /// @return its number, or [#NO_PEER] when that is no address of this transport
    int connect(byte[] address);

    void disconnect(int peer);

    /// Sends `count` consecutive slots to the group.
    ///
    /// @return how many were accepted, from the first on
    int multicast(int firstSlot, int count);

    /// Sends `count` consecutive slots to one peer.
    ///
    /// @return how many were accepted, from the first on
    int unicast(int peer, int firstSlot, int count);

    /// Datagrams accepted so far.
    long submitted();

    /// Sent datagrams whose slots the transport does not read any more.
    long completed();

    /// Bytes that wait in the operating system to be sent; 0 where that is not known.
    default long queuedBytes() {
        return 0;
    }
}
