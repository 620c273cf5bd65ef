package io.framecast.engine.session;

import io.framecast.api.error.TransportException;
import io.framecast.engine.ready.Waits;
import io.framecast.engine.ready.Wakeup;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.ManyToOneConcurrentArrayQueue;
import org.agrona.concurrent.NanoClock;

/// Runs the members of a node that share a thread, and the commands that other threads send. Without members it runs
/// commands alone.
///
/// @param <M> its members
public class SessionAgent<M extends SessionAgent.Member> implements Agent, Waits {
    /// A publisher or subscription that an agent runs, on the agent's thread.
    public interface Member {
        /// In messages, such as `publisher of x`.
        String name();

        /// One duty cycle.
        ///
        /// @return work done
        int doWork(long nowNs);

        /// An exception ended the member: it does nothing any more, and the other members go on.
        ///
        /// @param reason one line for the user
        void fail(String reason);

        /// Arms the wake-ups before the agent sleeps.
        void arm();

        /// The descriptor that wakes the agent when datagrams of peers arrive.
        int readyDescriptor();

        /// The descriptors that wake the agent, where the transport has no ready descriptor of its own.
        void collectDescriptors(IntConsumer descriptors);

        /// The deadline of the next timer.
        long nextDeadlineNs();

        /// Whether the member waits for an event that no descriptor announces.
        boolean mustPoll();
    }

    // Far more than publishers and subscribers.
    private static final int COMMANDS_MAX = 1024;

    private final String role;
    private final NanoClock clock;
    private final Consumer<String> notices;
    private final ManyToOneConcurrentArrayQueue<Runnable> commands = new ManyToOneConcurrentArrayQueue<>(COMMANDS_MAX);
    private Wakeup wakeup = Wakeup.NONE;
    private final List<M> members = new ArrayList<>();
    private IntConsumer descriptors = _ -> {};
    // Whether every lane could be asked for a wake-up on arrivals.
    private boolean armed = true;

    /// @param role names the agent's thread
    public SessionAgent(final String role, final NanoClock clock, final Consumer<String> notices) {
        this.role = role;
        this.clock = clock;
        this.notices = notices;
    }

    /// Called before the agent starts.
    ///
    /// @param watched takes the descriptors that wake the agent
    public final void wakeBy(final Wakeup agent, final IntConsumer watched) {
        wakeup = agent;
        descriptors = watched;
    }

    /// Any thread: the agent will run the command.
    public final void send(final Runnable command) {
        if (!commands.offer(command)) {
            throw new IllegalStateException("more than " + COMMANDS_MAX + " commands wait for an agent");
        }
        wakeup.wake();
    }

    public final long nowNs() {
        return clock.nanoTime();
    }

    /// Agent's thread.
    public final void add(final M member) {
        members.add(member);
        descriptors.accept(member.readyDescriptor());
    }

    /// Agent's thread: removes a member from the duty cycle.
    public final void remove(final M member) {
        members.remove(member);
    }

    public final List<M> members() {
        return members;
    }

    @Override
    public int doWork() {
        int work = 0;
        for (Runnable command = commands.poll(); command != null; command = commands.poll()) {
            try {
                command.run();
            } catch (final InternalError e) {
                // A fault in mapped memory; as an error it would end the thread.
                notices.accept(Failures.line(role, e));
            }
            work++;
        }
        final long nowNs = clock.nanoTime();
        for (int i = 0; i < members.size(); i++) {
            final M member = members.get(i);
            try {
                work += member.doWork(nowNs);
            } catch (final RuntimeException | Error e) {
                member.fail(report(member, e));
            }
        }
        return work;
    }

    /// Reports to the user that an exception ended a member.
    protected final String report(final Member member, final Throwable cause) {
        final String line = Failures.line(member.name(), cause);
        notices.accept(line);
        return line;
    }

    @Override
    public void arm() {
        armed = true;
        for (int i = 0; i < members.size(); i++) {
            try {
                members.get(i).arm();
            } catch (final RuntimeException _) {
                // A broken lane fails in the next duty cycle too.
                armed = false;
            }
        }
    }

    @Override
    public long untilTimerNs() {
        long deadlineNs = Long.MAX_VALUE;
        for (int i = 0; i < members.size(); i++) {
            deadlineNs = Math.min(deadlineNs, members.get(i).nextDeadlineNs());
        }
        return deadlineNs == Long.MAX_VALUE ? deadlineNs : deadlineNs - clock.nanoTime();
    }

    @Override
    public boolean mustPoll() {
        try {
            boolean must = !armed;
            for (int i = 0; i < members.size() && !must; i++) {
                must = members.get(i).mustPoll();
            }
            return must;
        } catch (final TransportException _) {
            // The next duty cycle finds the same failure, and reports it.
            return true;
        }
    }

    @Override
    public void collectDescriptors(final IntConsumer descriptors) {
        for (int i = 0; i < members.size(); i++) {
            members.get(i).collectDescriptors(descriptors);
        }
    }

    @Override
    public String roleName() {
        return role;
    }
}
