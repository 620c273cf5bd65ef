package io.framecast.rdma;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/// Runs tasks that may take seconds: the kernel may have to find a neighbour before it connects a queue pair or
/// makes an address handle, and an attacker can ask to join with an unused address. A few threads run the tasks in
/// order and end when there is none.
///
/// Threading: any thread.
final class OnDemandThreads {
    private final String name;
    private final int threadsMax;
    private final ScopedLock lock = new ScopedLock();
    private final Deque<Runnable> tasks = new ArrayDeque<>();
    private int threads;

    /// @param name of the threads
    OnDemandThreads(final String name, final int threadsMax) {
        this.name = name;
        this.threadsMax = threadsMax;
    }

    /// @param task throws nothing
    void run(final Runnable task) {
        try (ScopedLock.Scope _ = lock.hold()) {
            tasks.add(task);
            if (threads < threadsMax) {
                threads++;
                Thread.ofPlatform().daemon().name(name).start(this::work);
            }
        }
    }

    private void work() {
        Runnable task = next();
        while (task != null) {
            task.run();
            task = next();
        }
    }

    private @Nullable Runnable next() {
        try (ScopedLock.Scope _ = lock.hold()) {
            final Runnable task = tasks.poll();
            threads -= task == null ? 1 : 0;
            return task;
        }
    }
}
