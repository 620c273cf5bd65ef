package io.framecast.engine.session;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// Refuses the second of two threads that use a publisher or a subscriber at the same time. One thread may use it
/// after another, and a handler may call it again on the same thread.
public final class UseGuard implements AutoCloseable {
    private static final VarHandle USER;

    static {
        try {
            USER = MethodHandles.lookup().findVarHandle(UseGuard.class, "user", Thread.class);
        } catch (final ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final String guarded;
    private volatile @Nullable Thread user;
    // Nested calls of that thread, without the outermost.
    private int nested;

    /// @param guarded the object's name in messages: `subscriber of cam1`
    public UseGuard(final String guarded) {
        this.guarded = guarded;
    }

    /// Before a use; [#close] follows it, also where the use throws.
    ///
    /// @throws IllegalStateException when another thread is using it
    public UseGuard enter() {
        final Thread current = Thread.currentThread();
        if (USER.compareAndSet(this, null, current)) {
            return this;
        }
        final Thread other = user;
        if (other == current) {
            nested++;
            return this;
        }
        throw new IllegalStateException(guarded + ": thread " + current.getName() + " uses it while "
                + (other == null ? "another thread" : "thread " + other.getName())
                + " does; let one thread use it at a time, or make one for each thread");
    }

    /// After a use.
    @Override
    public void close() {
        if (nested > 0) {
            nested--;
        } else {
            USER.setRelease(this, null);
        }
    }
}
