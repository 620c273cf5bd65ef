package io.framecast.engine.node;

import io.framecast.api.error.FramecastException;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.NanoClock;

/// Runs all subscriptions of a node, and watches over those that are closed while frames are still held.
final class ReceiverAgent implements Agent {
    private final NanoClock clock;
    private final AgentQueue queue = new AgentQueue();
    private final AgentQueue conductor;
    private final List<Subscription> subscriptions = new ArrayList<>();
    private final List<Subscription> closing = new ArrayList<>();
    private volatile boolean idle = true;

    ReceiverAgent(final NanoClock clock, final AgentQueue conductor) {
        this.clock = clock;
        this.conductor = conductor;
    }

    AgentQueue queue() {
        return queue;
    }

    long nowNs() {
        return clock.nanoTime();
    }

    /// Agent's thread.
    void add(final Subscription subscription) {
        subscriptions.add(subscription);
    }

    /// Agent's thread: leaves the channel; memory is freed by the conductor once no frame is held.
    void remove(final EngineSubscriber subscriber) {
        for (int i = 0; i < subscriptions.size(); i++) {
            final Subscription subscription = subscriptions.get(i);
            if (subscription.subscriber() == subscriber) {
                subscriptions.remove(i);
                subscription.leave();
                closing.add(subscription);
                idle = false;
                return;
            }
        }
    }

    List<Subscription> subscriptions() {
        return subscriptions;
    }

    List<Subscription> closing() {
        return closing;
    }

    /// Whether no closed subscription waits for frames still held; a hint, from any thread.
    boolean isIdle() {
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
            } catch (final FramecastException e) {
                subscription.subscriber().onFailure(e.getMessage());
                remove(subscription.subscriber());
                i--;
            }
        }
        for (int i = 0; i < closing.size(); i++) {
            final Subscription subscription = closing.get(i);
            if (subscription.isReleased()) {
                closing.remove(i--);
                conductor.send(subscription::close);
                work++;
            }
        }
        idle = closing.isEmpty();
        return work;
    }

    @Override
    public String roleName() {
        return "framecast-receiver";
    }
}
