package io.framecast.engine.node;

import io.framecast.api.NodeConfig.Threading;
import io.framecast.api.spi.EngineThread;
import io.framecast.engine.ready.ReadyIdle;
import io.framecast.engine.ready.Waits;
import io.framecast.engine.ready.Wakeup;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;
import org.agrona.CloseHelper;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.AgentInvoker;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.CompositeAgent;

/// The threads that run a node's agents, and what each of them sleeps by: one thread for all, one for each,
/// or the caller's.
final class NodeThreads implements AutoCloseable {
    private final boolean invoked;
    private final List<AgentRunner> runners = new ArrayList<>();
    private final List<Thread> started = new ArrayList<>();
    private final AgentInvoker invoker;
    // The same three times where one thread runs all.
    private final ReadyIdle senderIdle;
    private final ReadyIdle receiverIdle;
    private final ReadyIdle conductorIdle;

    /// Nothing runs before [#start].
    NodeThreads(
            final Threading threading,
            final SenderAgent sender,
            final ReceiverAgent receiver,
            final ConductorAgent conductor,
            final ErrorHandler errors) {
        invoked = threading == Threading.INVOKER;
        final boolean dedicated = threading == Threading.DEDICATED;
        senderIdle = new ReadyIdle(dedicated ? sender : new Both(sender, receiver));
        receiverIdle = dedicated ? new ReadyIdle(receiver) : senderIdle;
        conductorIdle = dedicated ? new ReadyIdle(conductor) : senderIdle;
        sender.wakeBy(senderIdle, senderIdle::watch);
        receiver.wakeBy(receiverIdle, receiverIdle::watch);
        conductor.queue().wakeBy(conductorIdle);
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
                started.add(thread);
                return thread;
            });
        }
    }

    /// Runs all agents once, on the caller's thread.
    int invoke() {
        return invoker.invoke();
    }

    /// Runs all agents once, on the caller's thread, and sleeps when there was nothing to do.
    void invokeOrIdle() {
        senderIdle.idle(invoker.invoke());
    }

    Wakeup senderWakeup() {
        return senderIdle;
    }

    Wakeup receiverWakeup() {
        return receiverIdle;
    }

    /// Stops the threads, and waits for their end even where the caller is interrupted: what they use is
    /// freed behind this. Afterwards the agents can still be run by the caller.
    void stop() {
        // A runner that is closed by a thread that is interrupted waits for nothing.
        boolean interrupted = Thread.interrupted();
        try {
            final List<AutoCloseable> steps = new ArrayList<>(runners);
            steps.add(invoker);
            CloseHelper.closeAll(steps);
        } finally {
            for (final Thread thread : started) {
                interrupted |= awaitEnd(thread);
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    // Returns whether the caller was interrupted meanwhile. An agent that closes its own node cannot wait for itself.
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

    /// After [#stop], when nobody has anything to tell the agents any more.
    @Override
    public void close() {
        CloseHelper.closeAll(senderIdle, receiverIdle, conductorIdle);
    }

    /// One thread that runs two agents.
    private record Both(Waits first, Waits second) implements Waits {
        @Override
        public void arm() {
            first.arm();
            second.arm();
        }

        @Override
        public long untilTimerNs() {
            return Math.min(first.untilTimerNs(), second.untilTimerNs());
        }

        @Override
        public boolean mustLook() {
            return first.mustLook() || second.mustLook();
        }

        @Override
        public void tellDescriptors(final IntConsumer descriptors) {
            first.tellDescriptors(descriptors);
            second.tellDescriptors(descriptors);
        }
    }
}
