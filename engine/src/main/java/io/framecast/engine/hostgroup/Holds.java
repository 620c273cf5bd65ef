package io.framecast.engine.hostgroup;

import org.jspecify.annotations.Nullable;

/// Counts who uses something, and ends it when it is closed and nobody does any more.
///
/// Any thread.
final class Holds {
    private int count;
    private @Nullable Runnable end;
    private boolean closed;

    /// Begins a use.
    ///
    /// @return false when it was closed: it must not be used
    synchronized boolean take() {
        if (closed) {
            return false;
        }
        count++;
        return true;
    }

    /// Ends a use.
    void give() {
        final Runnable last;
        synchronized (this) {
            count--;
            last = count == 0 ? end : null;
            end = count == 0 ? null : end;
        }
        if (last != null) {
            last.run();
        }
    }

    /// From now on no use begins.
    ///
    /// @param last what ends it, run by the thread of the last use, or by this one; the first call counts
    void close(final Runnable last) {
        final boolean now;
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            now = count == 0;
            end = now ? null : last;
        }
        if (now) {
            last.run();
        }
    }
}
