package io.framecast.engine.session;

import io.framecast.engine.ready.Wakeup;
import org.agrona.concurrent.ManyToOneConcurrentArrayQueue;

/// Commands from other threads to one agent: a bounded queue that the agent drains in its own duty cycle.
public final class AgentQueue {
    private static final int COMMANDS_MAX = 1024;

    private final ManyToOneConcurrentArrayQueue<Runnable> commands = new ManyToOneConcurrentArrayQueue<>(COMMANDS_MAX);

    private Wakeup wakeup = Wakeup.NONE;

    /// Sets how a command wakes the agent; called before the first command.
    public void wakeBy(final Wakeup agent) {
        wakeup = agent;
    }

    /// Hands a command over. The queue is far longer than the number of publishers and subscribers.
    public void send(final Runnable command) {
        if (!commands.offer(command)) {
            throw new IllegalStateException("more than " + COMMANDS_MAX + " commands wait for an agent");
        }
        wakeup.wake();
    }

    public int run() {
        int count = 0;
        Runnable command = commands.poll();
        while (command != null) {
            command.run();
            count++;
            command = commands.poll();
        }
        return count;
    }
}
