package io.framecast.perf.litmus;

import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.samples.PeerLostException;
import java.util.concurrent.locks.LockSupport;

/// A publisher and a subscriber in one process, and a watch on their progress. The caller's thread.
final class LitmusStream implements AutoCloseable {
    private static final long STALL_NS = 30_000_000_000L;
    private static final long PARK_NS = 10_000;

    private final Framecast node = Framecast.launch(NodeConfig.DEFAULT.withNotices(_ -> {}));
    private final Publisher publisher;
    private final Subscriber subscriber;
    private long progressNs = System.nanoTime();

    /// @param source the publisher's device
    /// @param target the subscriber's
    LitmusStream(final LitmusPlan plan, final String source, final String target) {
        boolean opened = false;
        try {
            subscriber = node.subscribe(plan.channel(target));
            publisher = node.publish(plan.channel(source));
            while (publisher.readySubscribers() == 0) {
                idle();
            }
            progress();
            opened = true;
        } finally {
            if (!opened) {
                node.close();
            }
        }
    }

    Publisher publisher() {
        return publisher;
    }

    Subscriber subscriber() {
        return subscriber;
    }

    void progress() {
        progressNs = System.nanoTime();
    }

    /// Nothing could be done.
    void idle() {
        subscriber
                .failure()
                .filter(_ -> subscriber.state() == Subscriber.State.FAILED)
                .ifPresent(why -> {
                    throw new PeerLostException("litmus: " + why);
                });
        if (System.nanoTime() - progressNs > STALL_NS) {
            throw new PeerLostException("litmus: no frame for 30 s, the subscriber is " + subscriber.state());
        }
        LockSupport.parkNanos(this, PARK_NS);
    }

    @Override
    public void close() {
        node.close();
    }
}
