package io.framecast.samples.publish;

import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.IdleStrategy;

/// How the tool's loops wait: a short spin, then parked for longer and longer, up to 100 µs. Demos run four
/// processes
/// on machines with two cores: a spinning loop would take the time that another process needs.
final class Idle {
    private Idle() {}

    static IdleStrategy strategy() {
        return new BackoffIdleStrategy(20, 5, 2_000, 100_000);
    }
}
