package io.framecast.reliability.onesided;

import io.framecast.reliability.onesided.OneSidedPort.Region;

/// One end of a connection over which one side, or both, act on the other's memory. Operations are carried out, and
/// complete, in order.
///
/// Threading: one thread at a time. Nothing blocks, and nothing allocates once the endpoint is up.
public interface EndpointPort extends AutoCloseable {
    /// The token of an operation that completes with the next one that has a token.
    long NO_TOKEN = -1;

    /// The stage of the connection. BROKEN is final.
    enum State {
        /// Being made in the background.
        OPENING,
        /// [#connect] was not called.
        IDLE,
        CONNECTING,
        UP,
        /// See [#failure].
        BROKEN
    }

    State state();

    /// The reason for a failure, in one line; else empty.
    String failure();

    /// The values that the peer needs to connect; empty while the endpoint is being made, and on the accepting side
    /// until it is up.
    byte[] descriptor();

    /// Begins to connect to an endpoint that accepted this one.
    ///
    /// @param descriptor the peer's, from the wire
    /// @return false when it is no descriptor of this transport
    boolean connect(byte[] descriptor);

    /// Number of operations that would be accepted now.
    int room();

    /// Writes one aligned 64-bit word into the peer's memory, at once as seen from there.
    ///
    /// @param token comes back from [#poll]; not negative
    /// @return false when there is no room, or the endpoint is not up
    boolean write64(long address, int key, long value, long token);

    /// Reads the peer's memory into `target`, whose bytes are undefined until the token comes back.
    ///
    /// @return false when there is no room, or the endpoint is not up
    boolean read(Region target, long offset, int bytes, long address, int key, long token);

    /// Writes to the peer's memory from `source`, whose bytes must stay until the token comes back.
    ///
    /// @return false when there is no room, or the endpoint is not up
    boolean write(Region source, long offset, int bytes, long address, int key, long token);

    /// Takes the tokens of operations that completed, in order. An operation that fails breaks the endpoint, and
    /// its token and all later ones never come.
    ///
    /// @return tokens written to `tokens`
    int poll(long[] tokens);

    /// When this returns neither side acts over the connection any more. Idempotent.
    @Override
    void close();
}
