package io.framecast.api.spi;

/// Memory that a device may reach, until it is closed.
public interface RegisteredMemory extends AutoCloseable {
    /// What peers call the first byte.
    long address();

    long bytes();

    /// What peers must show.
    int key();

    /// Idempotent.
    @Override
    void close();
}
