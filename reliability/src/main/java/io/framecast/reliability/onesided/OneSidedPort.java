package io.framecast.reliability.onesided;

import java.lang.foreign.MemorySegment;

/// One-sided operations of a transport, as the protocol sees them. An adapter wraps a transport's one to one.
///
/// Threading: [#register], [#allocate] by any thread, the rest by the session's. Nothing blocks, but for
/// registering and [#open].
public interface OneSidedPort {
    /// The permitted access to registered memory, and the permitted operations of a peer over an endpoint: both
    /// must allow an operation.
    enum Access {
        /// This side's endpoints only.
        LOCAL,
        /// Peers may read.
        PEERS_READ,
        /// Peers may write, and over an endpoint read as well.
        PEERS_WRITE
    }

    /// The system refuses, or the peer's descriptor is invalid; the message gives the reason in one line.
    final class RefusedException extends RuntimeException {
        private static final long serialVersionUID = 1;

        public RefusedException(final String message) {
            super(message);
        }

        public RefusedException(final String message, final Throwable cause) {
            super(message, cause);
        }
    }

    /// Registered memory; closing it ends the registration.
    interface Region extends AutoCloseable {
        MemorySegment memory();

        /// Address of the first byte for peers.
        long address();

        /// The key that peers must show.
        int key();

        @Override
        void close();
    }

    /// Registers memory that stays the caller's. Slow.
    ///
    /// @throws RefusedException when the system refuses
    Region register(MemorySegment memory, Access access);

    /// Allocates zeroed host memory, aligned to 64 bytes, and registers it; closing the region frees it.
    ///
    /// @throws RefusedException when the system refuses
    Region allocate(long bytes, Access access);

    /// Makes an endpoint that acts; may take milliseconds.
    ///
    /// @param operationsMax operations in flight at a time
    /// @param peer the peer's permitted access
    /// @throws RefusedException when the system refuses
    EndpointPort open(int operationsMax, Access peer);

    /// As [#open] of an endpoint whose peer does nothing, made in the background: [EndpointPort.State#OPENING]
    /// until it is there.
    EndpointPort openLater(int operationsMax);

    /// Accepts a peer's endpoint and begins to connect to it.
    ///
    /// @param descriptor the peer's, from the wire
    /// @param peer the peer's permitted access
    /// @param operationsMax this side's operations in flight at a time; 0: only the peer acts
    /// @throws RefusedException when that is no descriptor of this transport
    EndpointPort accept(byte[] descriptor, Access peer, int operationsMax);
}
