package io.framecast.reliability.lane;

import io.framecast.reliability.wire.LaneAddresses;
import java.lang.foreign.MemorySegment;

/// The sending side of a control lane. Datagrams may be lost.
///
/// Threading: one thread. Nothing blocks or allocates in steady state.
public interface ControlPort {
    /// Memory for the next datagram, at least [io.framecast.reliability.wire.Wire#CONTROL_BYTES_MAX] long; valid
    /// until sent.
    MemorySegment slot();

    /// Sends the first `bytes` bytes of [#slot] to the group.
    void multicast(int bytes);

    /// Sends the first `bytes` bytes of [#slot] to one peer.
    void unicast(int peer, int bytes);

    /// Whether all that a receiver names is of one host: its addresses, and its endpoint where it has one. False where
    /// one is no address of this transport.
    boolean isOneHost(LaneAddresses addresses);

    /// As [SendLanePort#connect].
    int connect(byte[] address);

    void disconnect(int peer);

    /// This host's time, read anew: a caller's own is from before its last datagrams came.
    default long timeNs(final long nowNs) {
        return nowNs;
    }
}
