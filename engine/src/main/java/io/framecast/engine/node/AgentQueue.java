package io.framecast.engine.node;

import io.framecast.engine.ready.Wakeup;
import org.agrona.concurrent.ManyToOneConcurrentArrayQueue;

/// Commands from other threads to one agent: bounded, run in the agent's own duty cycle.
final class AgentQueue {
    private static final int COMMANDS_MAX = 1024;

    private final ManyToOneConcurrentArrayQueue<Runnable> commands = new ManyToOneConcurrentArrayQueue<>(COMMANDS_MAX);

    private Wakeup wakeup = Wakeup.NONE;

    /// Before any command: how the agent is woken.
    void wakeBy(final Wakeup agent) {
        wakeup = agent;
    }

    /// Hands a command over; the queue is far longer than there are publishers and subscribers.
    void send(final Runnable command) {
        if (!commands.offer(command)) {
            throw new IllegalStateException("more than " + COMMANDS_MAX + " commands wait for an agent");
        }
        wakeup.wake();
    }

    int run() {
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
