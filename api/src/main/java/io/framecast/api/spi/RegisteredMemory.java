package io.framecast.api.spi;

/// Memory that a device may reach, until it is closed.
public interface RegisteredMemory extends AutoCloseable {
    /// The address of the first byte in requests of peers.
    long address();

    long bytes();

    /// The key that requests of peers must carry.
    int key();

    /// Idempotent.
    @Override
    void close();
}
