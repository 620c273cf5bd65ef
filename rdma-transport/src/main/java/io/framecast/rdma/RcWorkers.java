package io.framecast.rdma;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// Does what may take seconds: to connect a queue pair the kernel may have to find a neighbour, and anybody
/// can ask to join with an address that nobody has. A few threads, which end when there is nothing to do.
///
/// Threading: any thread.
final class RcWorkers {
    private static final int THREADS_MAX = 4;

    private final ReentrantLock lock = new ReentrantLock();
    private final Deque<Runnable> tasks = new ArrayDeque<>();
    private int threads;

    /// @param task throws nothing
    void run(final Runnable task) {
        lock.lock();
        try {
            tasks.add(task);
            if (threads < THREADS_MAX) {
                threads++;
                Thread.ofPlatform().daemon().name("framecast-verbs-connect").start(this::work);
            }
        } finally {
            lock.unlock();
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
        lock.lock();
        try {
            final Runnable task = tasks.poll();
            threads -= task == null ? 1 : 0;
            return task;
        } finally {
            lock.unlock();
        }
    }
}
