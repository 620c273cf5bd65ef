package io.framecast.rdma.verbs;

/// A queue that takes [ReceiveRequests].
public sealed interface ReceiveQueue permits QueuePair, SharedReceiveQueue {
    /// @param first address of the first of a chain of requests
    /// @param refused address where the first that was not taken is written to
    /// @return 0, or the errno
    int postReceives(long first, long refused);
}
