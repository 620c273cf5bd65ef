package io.framecast.perf;

/// One way of carrying frames from a process to another on this machine.
interface MeasuredSystem {
    /// Publishes a whole stream, once its subscriber is there; returns when the subscriber has everything or `gone`
    /// says that it left.
    void publish(StreamSpec spec, Waiting gone);

    /// Takes a whole stream into host memory, every frame contiguous.
    ///
    /// @return goodput in units of 10^6 bytes per second
    double subscribe(StreamSpec spec);

    /// Waits for the other process.
    interface Waiting {
        void await();
    }
}
