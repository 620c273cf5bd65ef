package io.framecast.engine.hostgroup;

import java.util.ArrayList;
import java.util.List;

/// Counts the uses of an object, and runs its end when it is closed and unused.
///
/// Any thread.
final class RefCount {
    private final List<Runnable> ends = new ArrayList<>();
    private int count;
    private boolean closed;

    /// Begins a use.
    ///
    /// @return false when it was closed: it must not be used
    synchronized boolean acquire() {
        if (closed) {
            return false;
        }
        count++;
        return true;
    }

    /// Ends a use.
    void release() {
        final List<Runnable> last;
        synchronized (this) {
            count--;
            last = count == 0 && closed ? List.copyOf(ends) : List.of();
            if (!last.isEmpty()) {
                ends.clear();
            }
        }
        last.forEach(Runnable::run);
    }

    /// From now on no use begins.
    ///
    /// @param last run by the thread of the last use, or at once by this one; behind those of earlier calls
    void close(final Runnable last) {
        synchronized (this) {
            closed = true;
            if (count > 0) {
                ends.add(last);
                return;
            }
        }
        last.run();
    }
}
