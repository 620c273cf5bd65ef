package io.framecast.engine.publish;

import io.framecast.api.error.TransportException;
import io.framecast.engine.ready.Waits;
import io.framecast.engine.ready.Wakeup;
import io.framecast.engine.session.AgentQueue;
import io.framecast.engine.session.Failures;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.NanoClock;

/// Runs all source sessions of a node.
public final class SenderAgent implements Agent, Waits {
    private final NanoClock clock;
    private final Consumer<String> notices;
    private final AgentQueue queue = new AgentQueue();
    private final List<EnginePublisher> publishers = new ArrayList<>();
    private IntConsumer descriptors = _ -> {};
    // Whether every lane could be asked for a wake-up on arrivals.
    private boolean armed = true;

    public SenderAgent(final NanoClock clock, final Consumer<String> notices) {
        this.clock = clock;
        this.notices = notices;
    }

    /// Called before the agent starts.
    ///
    /// @param watched takes the descriptors that wake the agent
    public void wakeBy(final Wakeup agent, final IntConsumer watched) {
        queue.wakeBy(agent);
        descriptors = watched;
    }

    public AgentQueue queue() {
        return queue;
    }

    /// Agent's thread.
    public void add(final EnginePublisher publisher) {
        publishers.add(publisher);
        descriptors.accept(publisher.session().readyDescriptor());
    }

    /// Agent's thread: removes a publisher from the duty cycle.
    public void remove(final EnginePublisher publisher) {
        publishers.remove(publisher);
    }

    public long nowNs() {
        return clock.nanoTime();
    }

    public List<EnginePublisher> publishers() {
        return publishers;
    }

    @Override
    public int doWork() {
        int work = queue.run();
        final long nowNs = clock.nanoTime();
        for (int i = 0; i < publishers.size(); i++) {
            final EnginePublisher publisher = publishers.get(i);
            try {
                work += publisher.session().doWork(nowNs);
            } catch (final RuntimeException | Error e) {
                // Any exception ends this session alone: the other sessions go on, and no later cycle repeats the
                // failure.
                publishers.remove(i--);
                publisher.session().fail();
                publisher.onFailure(
                        Failures.line("publisher of " + publisher.channel().name(), e));
                notices.accept(publisher.failure().orElse(""));
            }
        }
        return work;
    }

    @Override
    public void arm() {
        armed = true;
        for (int i = 0; i < publishers.size(); i++) {
            armed &= isArmed(publishers.get(i).session());
        }
    }

    // A broken lane fails in the next duty cycle too.
    private static boolean isArmed(final SourceSession session) {
        try {
            session.arm();
            return true;
        } catch (final RuntimeException _) {
            return false;
        }
    }

    @Override
    public void collectDescriptors(final IntConsumer descriptors) {
        for (int i = 0; i < publishers.size(); i++) {
            publishers.get(i).session().collectDescriptors(descriptors);
        }
    }

    @Override
    public long untilTimerNs() {
        long deadlineNs = Long.MAX_VALUE;
        for (int i = 0; i < publishers.size(); i++) {
            deadlineNs = Math.min(deadlineNs, publishers.get(i).session().nextDeadlineNs());
        }
        return deadlineNs == Long.MAX_VALUE ? deadlineNs : deadlineNs - clock.nanoTime();
    }

    @Override
    public boolean mustPoll() {
        if (!armed) {
            return true;
        }
        for (int i = 0; i < publishers.size(); i++) {
            if (mustPollAfter(publishers.get(i).session())) {
                return true;
            }
        }
        return false;
    }

    private static boolean mustPollAfter(final SourceSession session) {
        try {
            return !session.isPollable() || session.isHeldBack();
        } catch (final TransportException _) {
            // The next duty cycle finds the same failure, and reports it.
            return true;
        }
    }

    @Override
    public String roleName() {
        return "framecast-sender";
    }
}
