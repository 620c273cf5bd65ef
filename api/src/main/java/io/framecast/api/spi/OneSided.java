package io.framecast.api.spi;

import java.lang.foreign.MemorySegment;

/// The one-sided part of a transport: operations of one process on another's memory without the other's CPU. A
/// receiver opens an endpoint and acts; its source accepts it and exposes memory. Their addresses travel as opaque
/// descriptors, and an address and key of the peer's are only ever used over the connection
/// to that peer. A process may accept an endpoint of its own: its NIC then copies within the host, and
/// between the host and a device.
///
/// Threading: any thread. Ownership: closing the transport closes all endpoints and lets go of all memory.
public interface OneSided {
    /// Longest descriptor of an endpoint.
    int DESCRIPTOR_BYTES_MAX = 64;

    /// The use of registered memory, and the rights of a peer over an endpoint: an operation needs both.
    enum Access {
        /// Only endpoints of this side use it, and only this side acts.
        LOCAL,
        /// Peers may read.
        PEERS_READ,
        /// Peers may write; and over an endpoint read as well.
        PEERS_WRITE
    }

    /// Registers memory, which stays the caller's and must outlive the registration. Slow; never on the data
    /// path.
    ///
    /// @throws io.framecast.api.error.TransportException when the system refuses; the message says how to
    ///     fix it
    RegisteredMemory register(MemorySegment memory, Access access);

    /// As [#register(MemorySegment, Access)], of a device's memory.
    ///
    /// @param memory exported by its device ([DeviceAccess#export]), until the registration is closed
    RegisteredMemory register(DeviceRegion memory, Access access);

    /// Makes an endpoint that acts. May take milliseconds; waits for no peer.
    ///
    /// @param operationsMax operations under way at a time
    /// @throws io.framecast.api.error.TransportException when the system refuses; the message says how to
    ///     fix it
    default OneSidedEndpoint open(final int operationsMax) {
        return open(operationsMax, Access.LOCAL);
    }

    /// As [#open(int)], where the peer may act as well, if it accepts with operations.
    OneSidedEndpoint open(int operationsMax, Access peer);

    /// Makes an endpoint through which a peer reads memory that this side registered for that. Returns at
    /// once: another thread does the rest, and [OneSidedEndpoint#state] reports it.
    ///
    /// @param descriptor the peer's, from the wire
    /// @throws io.framecast.api.error.TransportException when it is no descriptor of this transport, or names
    ///     an address that no peer can have
    default OneSidedEndpoint accept(final byte[] descriptor) {
        return accept(descriptor, Access.PEERS_READ, 0);
    }

    /// Whether an endpoint is at the host of an address of the same transport: a source asks that of a receiver, which
    /// proves its address. A provider that cannot tell says true.
    ///
    /// @param descriptor the peer's, from the wire
    /// @throws io.framecast.api.error.TransportException when one of the two is none of this transport
    default boolean isAt(final LaneAddress peer, final byte[] descriptor) {
        return true;
    }

    /// As [#accept(byte[])], where the peer may do more, or this side acts on memory that the peer registered
    /// for peers, too.
    ///
    /// @param peer the operations that it may do
    /// @param operationsMax of this side's, under way at a time; 0: only the peer acts
    OneSidedEndpoint accept(byte[] descriptor, Access peer, int operationsMax);
}
