package io.framecast.engine.publish;

import io.framecast.engine.ready.Uninterrupted;
import io.framecast.reliability.flow.Deadline;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/// The close of a publisher. Its user and its node may both ask for it, from two threads: the first one closes,
/// the other waits for that.
final class PublisherClosing {
    private static final long CLOSE_MAX_NS = TimeUnit.DAYS.toNanos(1);
    // Time for the work that follows the linger.
    private static final long CLOSE_SLACK_NS = TimeUnit.SECONDS.toNanos(10);

    private final AtomicBoolean taken = new AtomicBoolean();
    private volatile boolean begun;
    private volatile Deadline end = Deadline.NEVER;
    private volatile boolean done;

    /// Any thread: begins the close. Where another thread has begun it, waits until that thread is done; that one
    /// runs the agents in invoker mode.
    ///
    /// @return whether the caller closes
    boolean begin(final Duration linger) {
        if (!taken.compareAndSet(false, true)) {
            Uninterrupted.await(() -> done || end.isOver(System.nanoTime()), CLOSE_MAX_NS);
            return false;
        }
        final long lingerNs = Math.min(linger.toNanos(), CLOSE_MAX_NS);
        end = new Deadline(System.nanoTime(), lingerNs + CLOSE_SLACK_NS);
        begun = true;
        return true;
    }

    /// Any thread: whether the close has begun.
    boolean isBegun() {
        return begun;
    }

    /// The thread that closes: everything is closed.
    void onDone() {
        done = true;
    }
}
