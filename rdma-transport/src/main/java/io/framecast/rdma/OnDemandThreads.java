package io.framecast.rdma;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/// Runs tasks that may take seconds: the kernel may have to find a neighbour before it connects a queue pair or
/// makes an address handle, and an attacker can ask to join with an unused address. A few threads run the tasks in
/// order and end when there is none.
///
/// Threading: any thread.
final class OnDemandThreads {
    private OnDemandThreads() {}

    /// @param name of the threads
    static Executor executor(final String name, final int threadsMax) {
        final ThreadPoolExecutor threads = new ThreadPoolExecutor(
                threadsMax,
                threadsMax,
                1,
                TimeUnit.NANOSECONDS,
                new LinkedBlockingQueue<>(),
                Thread.ofPlatform().daemon().name(name).factory());
        threads.allowCoreThreadTimeOut(true);
        return threads;
    }
}
