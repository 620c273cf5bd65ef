package io.framecast.perf.rivals;

import java.io.IOException;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.IdleStrategy;

/// One way of carrying frames from one process to others on this machine.
public interface MeasuredSystem {
    /// Publishes a whole stream, once all its receivers are there. Returns when they have everything, or
    /// `gone` says that they left.
    SourceReport publish(StreamSpec spec, Runnable gone) throws IOException;

    /// Takes a whole stream into host memory.
    ReceiverReport subscribe(StreamSpec spec) throws IOException;

    /// The idle strategy of applications, the same for every system.
    static IdleStrategy idle() {
        return new BackoffIdleStrategy(20, 10, 1_000, 200_000);
    }
}
