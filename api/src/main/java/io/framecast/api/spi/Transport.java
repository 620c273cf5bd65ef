package io.framecast.api.spi;

/// Moves datagrams of one channel between a source and its receivers. Shaped by InfiniBand verbs, the strictest:
/// registered memory known when a lane opens, receives posted before data arrives, sends in batches from gather
/// lists, completions polled.
///
/// Reliability is not a transport's business: it may lose, duplicate and reorder datagrams, but it must never tear,
/// merge or invent one (a datagram longer than a posted slot is dropped and counted).
///
/// Threading: a transport is opened by the conductor; each [Lane] is then used by one thread at a time.
/// Ownership: closing the transport closes its lanes; memory handed over in rings stays the caller's, and must
/// outlive the lane.
public interface Transport extends AutoCloseable {
    TransportCapabilities capabilities();

    /// Opens one lane. Never blocks on a peer.
    ///
    /// @throws io.framecast.api.error.TransportException when the system refuses; the message names the mend
    Lane open(LaneConfig config);

    /// A descriptor of the operating system that polls readable while a datagram waits in a lane that receives,
    /// but for lanes with a descriptor of their own ([Lane#readyDescriptor]), so that agents can sleep until then;
    /// it stays the transport's.
    ///
    /// @return -1 where there is none: agents then look for themselves
    default int readyDescriptor() {
        return -1;
    }

    /// Idempotent.
    @Override
    void close();
}
