package io.framecast.api.provider;

import java.util.concurrent.locks.ReentrantLock;

/// A lock that a thread holds for a block: `try (ScopedLock.Scope _ = lock.hold()) { … }`.
public final class ScopedLock extends ReentrantLock {
    private static final long serialVersionUID = 1L;

    @SuppressWarnings("serial")
    private final Scope scope = this::unlock;

    /// Ends the block; always the same object, so that holding allocates nothing.
    @FunctionalInterface
    public interface Scope extends AutoCloseable {
        @Override
        void close();
    }

    /// Waits for the lock.
    public Scope hold() {
        lock();
        return scope;
    }
}
