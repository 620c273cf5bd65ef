package io.framecast.engine.node;

import io.framecast.api.NodeConfig.Threading;
import io.framecast.api.spi.EngineThread;
import io.framecast.engine.ready.ReadyIdle;
import io.framecast.engine.ready.Waits;
import io.framecast.engine.ready.Wakeup;
import io.framecast.engine.session.SessionAgent;
import io.framecast.engine.session.Waiter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import org.agrona.CloseHelper;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.AgentInvoker;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.CompositeAgent;

/// The threads that run a node's agents, and the idle strategy of each: one thread for all agents, one for each, or
/// the callers' threads (invoker mode).
///
/// In invoker mode one caller at a time runs the agents; the agents and their objects have no other guard.
final class NodeThreads implements AutoCloseable {
    // A waiting caller takes over the agents this long after another caller stopped running them.
    private static final long TAKE_OVER_NS = TimeUnit.MICROSECONDS.toNanos(200);

    private final boolean invoked;
    // Held by the caller that runs the agents.
    private final ReentrantLock running = new ReentrantLock();
    private final BothWait both;
    private volatile boolean stopped;
    private final List<AgentRunner> runners = new ArrayList<>();
    private final List<Thread> started = new ArrayList<>();
    private final AgentInvoker invoker;
    // The same object three times where one thread runs all agents.
    private final ReadyIdle senderIdle;
    private final ReadyIdle receiverIdle;
    private final ReadyIdle conductorIdle;

    /// No agent runs before [#start].
    NodeThreads(
            final Threading threading,
            final SessionAgent<?> sender,
            final SessionAgent<?> receiver,
            final SessionAgent<?> conductor,
            final ErrorHandler errors) {
        invoked = threading == Threading.INVOKER;
        final boolean dedicated = threading == Threading.DEDICATED;
        both = new BothWait(sender, receiver);
        senderIdle = new ReadyIdle(dedicated ? sender : both);
        receiverIdle = dedicated ? new ReadyIdle(receiver) : senderIdle;
        conductorIdle = dedicated ? new ReadyIdle(conductor) : senderIdle;
        sender.wakeBy(senderIdle, senderIdle::watch);
        receiver.wakeBy(receiverIdle, receiverIdle::watch);
        conductor.wakeBy(conductorIdle, conductorIdle::watch);
        invoker = new AgentInvoker(errors, null, new CompositeAgent(sender, receiver, conductor));
        switch (threading) {
            case INVOKER -> {}
            case SHARED -> runners.add(new AgentRunner(senderIdle, errors, null, invoker.agent()));
            case DEDICATED -> {
                runners.add(new AgentRunner(senderIdle, errors, null, sender));
                runners.add(new AgentRunner(receiverIdle, errors, null, receiver));
                runners.add(new AgentRunner(conductorIdle, errors, null, conductor));
            }
        }
    }

    void start() {
        if (invoked) {
            invoker.start();
        }
        for (final AgentRunner runner : runners) {
            AgentRunner.startOnThread(runner, task -> {
                final Thread thread = new EngineThread(task);
                // The handler of errors has reported it, in one line.
                thread.setUncaughtExceptionHandler((_, _) -> {});
                started.add(thread);
                return thread;
            });
        }
    }

    /// Whether callers run the agents.
    boolean areInvoked() {
        return invoked;
    }

    /// Runs all agents once, on the caller's thread.
    ///
    /// @return work done; 0 while another thread runs the agents
    /// @throws IllegalStateException when an agent's handler calls this
    int invoke() {
        if (running.isHeldByCurrentThread()) {
            throw new IllegalStateException("doWork: called by an agent, from a handler of notices perhaps; call it"
                    + " from a loop of your own");
        }
        if (!running.tryLock()) {
            return 0;
        }
        try {
            return stopped ? 0 : invoker.invoke();
        } finally {
            running.unlock();
        }
    }

    /// Runs the agents on the caller's thread until the condition holds, the time is over or the thread is
    /// interrupted, as [Waiter#await] does. Sleeps while the agents have no work, and while another thread runs
    /// them. An agent's own thread never waits here, because no other thread would make the condition true.
    void invokeUntil(final Waiter sleeper, final BooleanSupplier condition, final long longestNs) {
        if (running.isHeldByCurrentThread()) {
            return;
        }
        Waiter.repeat(condition, longestNs, leftNs -> {
            if (!runOrSleep(condition, leftNs)) {
                sleeper.await(condition, Math.min(leftNs, TAKE_OVER_NS));
            }
        });
    }

    // Returns false where another thread runs the agents, or no thread runs them any more.
    private boolean runOrSleep(final BooleanSupplier condition, final long longestNs) {
        if (!running.tryLock()) {
            return false;
        }
        try {
            if (stopped) {
                return false;
            }
            // The thread that ran the agents before may have made the condition true, and this invocation may too.
            final int work = condition.getAsBoolean() ? 1 : invoker.invoke();
            if (work > 0 || !condition.getAsBoolean()) {
                both.leftNs = longestNs;
                senderIdle.idle(work);
            }
            return true;
        } finally {
            running.unlock();
        }
    }

    Wakeup senderWakeup() {
        return senderIdle;
    }

    Wakeup receiverWakeup() {
        return receiverIdle;
    }

    /// Stops the threads, and waits for their end even where the caller is interrupted, because the node then frees
    /// the memory that they use. Afterwards the caller can still run the agents.
    void stop() {
        // An interrupted thread that closes a runner would not wait.
        boolean interrupted = Thread.interrupted();
        // A caller that sleeps between duty cycles holds the lock.
        senderIdle.wake();
        running.lock();
        try {
            stopped = true;
            final List<AutoCloseable> steps = new ArrayList<>(runners);
            steps.add(invoker);
            CloseHelper.closeAll(steps);
        } finally {
            running.unlock();
            for (final Thread thread : started) {
                interrupted |= awaitEnd(thread);
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    // Returns whether the caller was interrupted meanwhile. An agent that closes its own node cannot wait for
    // itself.
    private static boolean awaitEnd(final Thread thread) {
        boolean interrupted = false;
        while (thread.isAlive() && !thread.equals(Thread.currentThread())) {
            try {
                thread.join();
            } catch (final InterruptedException _) {
                interrupted = true;
            }
        }
        return interrupted;
    }

    /// Called after [#stop], when no thread sends commands to the agents any more.
    @Override
    public void close() {
        CloseHelper.closeAll(senderIdle, receiverIdle, conductorIdle);
    }

    /// One thread that runs two agents.
    private static final class BothWait implements Waits {
        private final Waits first;
        private final Waits second;
        // A waiting caller wants its thread back after this time.
        private long leftNs = Long.MAX_VALUE;

        BothWait(final Waits first, final Waits second) {
            this.first = first;
            this.second = second;
        }

        @Override
        public void arm() {
            first.arm();
            second.arm();
        }

        @Override
        public long untilTimerNs() {
            return Math.min(leftNs, Math.min(first.untilTimerNs(), second.untilTimerNs()));
        }

        @Override
        public boolean mustPoll() {
            return first.mustPoll() || second.mustPoll();
        }

        @Override
        public void collectDescriptors(final IntConsumer descriptors) {
            first.collectDescriptors(descriptors);
            second.collectDescriptors(descriptors);
        }
    }
}
