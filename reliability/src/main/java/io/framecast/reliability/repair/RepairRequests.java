package io.framecast.reliability.repair;

/// What a placement that found no room for a repair says of when to ask again. Without it a frame that waits
/// for its turn would count as one that the network keeps losing, and its back-off double up to the longest.
public interface RepairRequests {
    /// Repairs of so many frames find room: what is missing of more is not asked for yet. Who never says so has
    /// room for all.
    ///
    /// @param frames at least 1
    /// @param slots how long frames are, in datagrams; a guess
    void room(int frames, long slots, long nowNs);

    /// A repair of this frame came and found no room: none of its datagrams is asked for, until [#hasten] or
    /// that time.
    ///
    /// @param first the frame's first sequence
    /// @param slots the frame's length in datagrams
    void defer(long first, long slots, long dueNs);

    /// There is room now: what is missing of this frame is asked for at once, as if for the first time.
    ///
    /// @param first as in [#defer]
    /// @param slots upper bound of the frame's length
    void hasten(long first, long slots, long nowNs);

    /// A datagram that was read out of a co-root's copy was not what was missing: whoever repairs is asked for it at
    /// once.
    void ask(long sequence, long nowNs);

    /// A datagram that was read out of the source's window was not what was missing: it is asked for at once.
    void insist(long sequence, long nowNs);
}
