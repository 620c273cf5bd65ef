package io.framecast.reliability.send;

import io.framecast.reliability.repair.RetransmitScheduler;
import io.framecast.reliability.wire.EndpointOffer;
import io.framecast.reliability.wire.LaneAddresses;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// The effects of a sender machine on the outside. The network may lose control datagrams; the transport accepts
/// repairs or refuses them.
public interface SenderOutput extends RetransmitScheduler.Output {
    /// The source no longer writes to that member.
    int NO_FEED = -1;

    /// Memory for one control datagram, at least [io.framecast.reliability.wire.Wire#CONTROL_BYTES_MAX] long;
    /// valid until sent.
    MemorySegment control();

    /// As [io.framecast.reliability.lane.ControlPort#timeNs].
    default long timeNs(final long nowNs) {
        return nowNs;
    }

    /// Sends the first `bytes` bytes of [#control] to the group.
    void multicastControl(int bytes);

    /// Sends the first `bytes` bytes of [#control] to one member.
    void sendControl(int member, int bytes);

    /// Multicasts a full-size probe on the data lane.
    void probe(int token);

    /// True when all addresses that a receiver names are of one host, so that proof of its control address proves the
    /// other ones. They are from the wire.
    boolean isOneHost(LaneAddresses addresses);

    /// Makes a member reachable. Addresses are from the wire.
    ///
    /// @return false when they are not addresses of this transport
    boolean connect(int member, byte[] controlAddress, byte[] repairAddress);

    /// Forgets a member's addresses.
    void disconnect(int member);

    /// Begins to let a member act on this source's memory. Never blocks. The descriptor is from the wire.
    ///
    /// @param feeds whether the source may write into the member's replica ([#openFeed])
    /// @return false when that is impossible: the member's grants come by datagram
    default boolean link(final int member, final byte[] descriptor, final boolean feeds) {
        return false;
    }

    /// The values that a member needs to use its connection; null until the connection stands.
    default @Nullable EndpointOffer endpointOffer(final int member) {
        return null;
    }

    /// Whether a member's connection failed, and never has an offer again.
    default boolean isEndpointBroken(final int member) {
        return false;
    }

    /// Lets [#feed] write into a member's replica of the window over its connection, and lets the word there
    /// announce progress. A repeated call makes the word repeat its progress.
    ///
    /// @param copy from the wire: used over the connection to this member only
    /// @param epoch of the word
    /// @param first sequence that is written first
    /// @return false when that is impossible: the member is fed by datagram
    default boolean openFeed(final int member, final EndpointOffer copy, final int epoch, final long first) {
        return false;
    }

    /// Writes consecutive sequences behind those written before into a member's replica, and then its word. Their
    /// slots must not change until [SenderMachine#onWritten].
    ///
    /// @return how many were taken, from the first on: fewer when there is no room now; or [#NO_FEED] when the
    ///     replica is not written any more
    default int feed(final int member, final long firstSequence, final int count) {
        return NO_FEED;
    }

    /// Closes a member's connection: when this returns the member cannot act any more, and its word is 0.
    default void unlink(final int member) {}
}
