package io.framecast.rdma.verbs;

/// What [ReceiveRequests] are posted to.
public sealed interface ReceiveQueue permits QueuePair, SharedReceiveQueue {
    /// @param first address of the first of a chain of requests
    /// @param refused address where the first that was not taken is written to
    /// @return 0, or the errno
    int postReceives(long first, long refused);
}
