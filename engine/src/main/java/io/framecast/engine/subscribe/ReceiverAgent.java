package io.framecast.engine.subscribe;

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

/// Runs all subscriptions of a node, and keeps closed ones until their last frame is released.
public final class ReceiverAgent implements Agent, Waits {
    private final NanoClock clock;
    private final Consumer<String> notices;
    private final AgentQueue queue = new AgentQueue();
    private final AgentQueue conductor;
    private final List<Subscription> subscriptions = new ArrayList<>();
    private final List<Subscription> closing = new ArrayList<>();
    private IntConsumer descriptors = _ -> {};
    // Whether every lane could be asked for a wake-up on arrivals.
    private boolean armed = true;
    private volatile boolean idle = true;

    public ReceiverAgent(final NanoClock clock, final AgentQueue conductor, final Consumer<String> notices) {
        this.clock = clock;
        this.notices = notices;
        this.conductor = conductor;
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

    public long nowNs() {
        return clock.nanoTime();
    }

    /// Agent's thread.
    public void add(final Subscription subscription) {
        subscriptions.add(subscription);
        descriptors.accept(subscription.readyDescriptor());
    }

    /// Agent's thread: leaves the channel. The conductor frees the memory once no frame is held.
    public void remove(final EngineSubscriber subscriber) {
        for (int i = 0; i < subscriptions.size(); i++) {
            final Subscription subscription = subscriptions.get(i);
            if (subscription.subscriber() == subscriber) {
                subscriptions.remove(i);
                closing.add(subscription);
                idle = false;
                subscription.leave();
                return;
            }
        }
    }

    public List<Subscription> subscriptions() {
        return subscriptions;
    }

    public List<Subscription> closing() {
        return closing;
    }

    /// Whether every closed subscription has all its frames back; a hint, from any thread.
    public boolean isIdle() {
        return idle;
    }

    @Override
    public int doWork() {
        int work = queue.run();
        final long nowNs = clock.nanoTime();
        for (int i = 0; i < subscriptions.size(); i++) {
            final Subscription subscription = subscriptions.get(i);
            try {
                work += subscription.doWork(nowNs);
            } catch (final RuntimeException | Error e) {
                // The failure ends this session alone. Until the user closes the subscriber, device and frames stay
                // valid.
                final String line = Failures.line("subscriber of " + subscription.channelName(), e);
                notices.accept(line);
                subscription.fail(line);
            }
        }
        for (int i = 0; i < closing.size(); i++) {
            final Subscription subscription = closing.get(i);
            if (isReleased(subscription)) {
                closing.remove(i--);
                conductor.send(subscription::close);
                work++;
            }
        }
        idle = closing.isEmpty();
        return work;
    }

    // A failed device cannot report on its streams, so the agent does not wait for them.
    private boolean isReleased(final Subscription subscription) {
        try {
            return subscription.isReleased();
        } catch (final RuntimeException e) {
            notices.accept(Failures.line("subscriber of " + subscription.channelName(), e));
            return true;
        }
    }

    @Override
    public void arm() {
        armed = true;
        for (int i = 0; i < subscriptions.size(); i++) {
            armed &= isArmed(subscriptions.get(i));
        }
    }

    // A broken lane fails in the next duty cycle too.
    private static boolean isArmed(final Subscription subscription) {
        try {
            subscription.arm();
            return true;
        } catch (final RuntimeException _) {
            return false;
        }
    }

    @Override
    public long untilTimerNs() {
        long deadlineNs = Long.MAX_VALUE;
        for (int i = 0; i < subscriptions.size(); i++) {
            deadlineNs = Math.min(deadlineNs, subscriptions.get(i).nextDeadlineNs());
        }
        return deadlineNs == Long.MAX_VALUE ? deadlineNs : deadlineNs - clock.nanoTime();
    }

    @Override
    public boolean mustPoll() {
        if (!armed) {
            return true;
        }
        for (int i = 0; i < subscriptions.size(); i++) {
            if (subscriptions.get(i).mustPoll()) {
                return true;
            }
        }
        return !closing.isEmpty();
    }

    @Override
    public void collectDescriptors(final IntConsumer descriptors) {
        for (int i = 0; i < subscriptions.size(); i++) {
            subscriptions.get(i).collectDescriptors(descriptors);
        }
    }

    @Override
    public String roleName() {
        return "framecast-receiver";
    }
}
