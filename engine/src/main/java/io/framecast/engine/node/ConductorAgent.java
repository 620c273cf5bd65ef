package io.framecast.engine.node;

import io.framecast.engine.ready.Waits;
import io.framecast.engine.session.AgentQueue;
import io.framecast.engine.session.Failures;
import io.framecast.engine.subscribe.IncompatibleSourceException;
import io.framecast.engine.subscribe.ReceiverAgent;
import io.framecast.engine.subscribe.ReceiverSession;
import io.framecast.engine.subscribe.Subscription;
import io.framecast.reliability.wire.StreamInfo;
import org.agrona.concurrent.Agent;

/// Runs long tasks away from the data path: opens sessions (memory, lanes) and frees them.
final class ConductorAgent implements Agent, Waits {
    private final AgentQueue queue = new AgentQueue();

    AgentQueue queue() {
        return queue;
    }

    /// The opener of a receiver's subscriptions, which call it on the receiver's thread.
    Subscription.Opener opener(final ReceiverAgent receiver) {
        return new Subscription.Opener() {
            @Override
            public void open(final Subscription subscription, final StreamInfo stream) {
                ConductorAgent.this.open(subscription, stream, receiver);
            }

            @Override
            public void free(final ReceiverSession session) {
                queue.send(session::close);
            }

            @Override
            public void run(final Runnable task) {
                queue.send(task);
            }
        };
    }

    // Opens a session and hands it to the receiver.
    private void open(final Subscription subscription, final StreamInfo stream, final ReceiverAgent receiver) {
        queue.send(() -> {
            try {
                final ReceiverSession session = subscription.open(stream);
                receiver.queue().send(() -> subscription.attach(session, receiver.nowNs()));
            } catch (final IncompatibleSourceException e) {
                final String reason = e.line();
                receiver.queue().send(() -> subscription.decline(stream.session(), reason, receiver.nowNs()));
            } catch (final RuntimeException | Error e) {
                // A subscription without an answer would wait for ever.
                final String reason = Failures.line("subscriber", e);
                receiver.queue().send(() -> subscription.refuse(stream.session(), reason, receiver.nowNs()));
            }
        });
    }

    @Override
    public int doWork() {
        return queue.run();
    }

    @Override
    public long untilTimerNs() {
        return Long.MAX_VALUE;
    }

    @Override
    public boolean mustPoll() {
        return false;
    }

    @Override
    public String roleName() {
        return "framecast-conductor";
    }
}
