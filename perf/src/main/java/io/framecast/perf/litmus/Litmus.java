package io.framecast.perf.litmus;

import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.samples.PeerLostException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/// A litmus test: a publisher and a subscriber in one process, and a watch on their progress. The caller's
/// thread.
abstract class Litmus {
    static final int GRID = 16;
    static final int THREADS = 128;

    private static final long STALL_NS = 30_000_000_000L;
    private static final long PARK_NS = 10_000;

    final LitmusPlan plan;

    Litmus(final LitmusPlan plan) {
        this.plan = plan;
    }

    /// Runs all rounds.
    abstract LitmusRow run();

    /// The work on an open stream.
    interface Rounds {
        LitmusRow run(Publisher publisher, Subscriber subscriber);
    }

    /// @param source the publisher's device
    /// @param target the subscriber's
    final LitmusRow run(final String source, final String target, final Rounds rounds) {
        try (Framecast node = Framecast.launch(NodeConfig.DEFAULT.withNotices(_ -> {}))) {
            final Subscriber subscriber = node.subscribe(plan.channel(target));
            final Publisher publisher = node.publish(plan.channel(source));
            repeat(subscriber, () -> publisher.readySubscribers() > 0, () -> false);
            return rounds.run(publisher, subscriber);
        }
    }

    /// Repeats a step until something holds.
    ///
    /// @param step whether it got further
    static void repeat(final Subscriber subscriber, final BooleanSupplier until, final BooleanSupplier step) {
        long progressNs = System.nanoTime();
        while (!until.getAsBoolean()) {
            if (step.getAsBoolean()) {
                progressNs = System.nanoTime();
                continue;
            }
            if (subscriber.state() == Subscriber.State.FAILED) {
                throw new PeerLostException("litmus: " + subscriber.failure().orElse("the subscriber failed"));
            }
            if (System.nanoTime() - progressNs > STALL_NS) {
                throw new PeerLostException("litmus: no frame for 30 s, the subscriber is " + subscriber.state());
            }
            LockSupport.parkNanos(PARK_NS);
        }
    }
}
