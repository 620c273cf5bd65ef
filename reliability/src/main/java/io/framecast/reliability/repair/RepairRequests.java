package io.framecast.reliability.repair;

/// Takes a placement's reports of missing room for repairs, and schedules the next requests. Without them a frame
/// that waits for its turn would count as one that the network keeps losing, and its back-off would double up to
/// the longest.
public interface RepairRequests {
    /// Repairs of that many frames find room; missing datagrams of further frames are not requested yet. Without a
    /// call there is room for all.
    ///
    /// @param frames at least 1
    /// @param slots typical length of a frame, in datagrams
    void room(int frames, long slots, long nowNs);

    /// A repair of this frame found no room: none of its datagrams is requested until [#retryNow] or that time.
    ///
    /// @param first the frame's first sequence
    /// @param slots the frame's length in datagrams
    void defer(long first, long slots, long dueNs);

    /// There is room now: missing datagrams of this frame are requested at once, as if for the first time.
    ///
    /// @param first as in [#defer]
    /// @param slots upper bound of the frame's length
    void retryNow(long first, long slots, long nowNs);

    /// A read of a co-root's replica brought another datagram: the missing one is requested from the co-root at
    /// once.
    void ask(long sequence, long nowNs);

    /// A read of the source's window brought another datagram: the missing one is requested at once.
    void escalate(long sequence, long nowNs);
}
