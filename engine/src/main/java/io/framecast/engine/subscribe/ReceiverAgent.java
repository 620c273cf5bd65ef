package io.framecast.engine.subscribe;

import io.framecast.engine.session.SessionAgent;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.agrona.concurrent.NanoClock;

/// Runs all subscriptions of a node, and keeps closed ones until their last frame is released.
public final class ReceiverAgent extends SessionAgent<Subscription> {
    private final SessionAgent<?> conductor;
    private final List<Subscription> closing = new ArrayList<>();
    private volatile boolean idle = true;

    /// @param conductor runs long tasks, such as opening and freeing sessions
    public ReceiverAgent(final NanoClock clock, final SessionAgent<?> conductor, final Consumer<String> notices) {
        super("framecast-receiver", clock, notices);
        this.conductor = conductor;
    }

    SessionAgent<?> conductor() {
        return conductor;
    }

    /// Agent's thread: leaves the channel. The conductor frees the memory once no frame is held.
    public void remove(final EngineSubscriber subscriber) {
        for (final Subscription subscription : List.copyOf(members())) {
            if (subscription.subscriber() == subscriber) {
                remove(subscription);
                closing.add(subscription);
                idle = false;
                subscription.leave();
            }
        }
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
        int work = super.doWork();
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
            report(subscription, e);
            return true;
        }
    }

    @Override
    public boolean mustPoll() {
        return super.mustPoll() || !closing.isEmpty();
    }
}
