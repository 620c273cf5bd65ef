package io.framecast.api.spi;

/// One end of a connection between two processes, over which one of them, or both, act on the other's memory.
///
/// Threading: one thread at a time, as [Lane]. Nothing blocks, and nothing allocates once the endpoint is up.
public interface OneSidedEndpoint extends AutoCloseable {
    /// The token of an operation that completes with the next one that has a token.
    long NO_TOKEN = -1;

    /// Where a connection stands. It never comes back from BROKEN.
    enum State {
        /// Opened; [#connect] was not called.
        IDLE,
        CONNECTING,
        UP,
        /// See [#failure].
        BROKEN
    }

    /// The bytes that the peer needs to connect: opaque, at most [OneSided#DESCRIPTOR_BYTES_MAX] bytes. An
    /// accepting endpoint has them once it is up; empty before.
    byte[] descriptor();

    /// Begins to connect to an endpoint that accepted this one. Returns at once.
    ///
    /// @param peer its descriptor, from the wire
    /// @throws io.framecast.api.error.TransportException when it is no descriptor of this transport, or names
    ///     an address that no peer can have
    void connect(byte[] peer);

    State state();

    /// Why it is broken, in one line; empty when it is not.
    String failure();

    /// Operations that are taken now.
    int room();

    /// Writes one aligned 64-bit word into the peer's memory, at once as seen from there.
    ///
    /// @param address a multiple of 8, as the peer announced it
    /// @param token comes back from [#poll]; not negative
    /// @return false when there is no room, or the endpoint is not up
    boolean write64(long address, int key, long value, long token);

    /// Reads the peer's memory. The bytes at `target` are undefined until the token comes back. Operations are
    /// carried out, and complete, in order.
    ///
    /// @param target where
    /// @param token comes back from [#poll], or [#NO_TOKEN]
    /// @return false when there is no room, or the endpoint is not up
    boolean read(Range target, long address, int key, long token);

    /// Writes to the peer's memory. The bytes at `source` must stay until the token comes back. Operations are
    /// carried out, and complete, in order: a reader that sees the last of them sees the earlier ones.
    ///
    /// @param source the bytes to write
    /// @param token comes back from [#poll], or [#NO_TOKEN]
    /// @return false when there is no room, or the endpoint is not up
    boolean write(Range source, long address, int key, long token);

    /// Takes the tokens of operations that are done, in order. An operation that fails breaks the endpoint,
    /// and its token and all later ones never come.
    ///
    /// @return tokens written to `tokens`
    int poll(long[] tokens);

    /// The peer cannot act any more from the moment this returns, nor does anything of this side's.
    /// Idempotent.
    @Override
    void close();

    /// A part of this side's memory, where a read lands or a write comes from: mutable, to be used again.
    final class Range {
        private final RegisteredMemory memory;
        private long offset;
        private int bytes;

        public Range(final RegisteredMemory memory) {
            this.memory = memory;
        }

        /// Sets the range within the memory.
        public Range at(final long from, final int length) {
            if (from < 0 || length <= 0 || length > memory.bytes() - from) {
                throw new IllegalArgumentException(
                        "range: expected one of " + memory.bytes() + " bytes, got " + from + " + " + length);
            }
            offset = from;
            bytes = length;
            return this;
        }

        public RegisteredMemory memory() {
            return memory;
        }

        public long offset() {
            return offset;
        }

        public int bytes() {
            return bytes;
        }
    }
}
