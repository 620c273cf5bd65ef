package io.framecast.reliability.repair;

/// The repairs that one member may get: at most as many as half of the datagrams of the stream, so that no member
/// makes a sender of repairs send far more than the stream. An unused budget is kept, up to a window: a member
/// that missed a whole window gets it at once. Where little or nothing is sent, the budget grows slowly with time.
///
/// A member that loses a fifth of all datagrams, and of their repairs, needs a quarter. A request that is refused
/// now is repaired when the member asks again.
///
/// Pure state; one thread. Times are nanoseconds since the engine's start.
public final class RepairBudget {
    /// At first, and the least that can be kept.
    public static final int FLOOR = 64;
    /// Time in which one more is allowed, however little is sent.
    static final long INTERVAL_NS = 250_000;
    /// Datagrams of the stream for each repair.
    static final int DATAGRAMS_PER_REPAIR = 2;

    // In datagrams of the stream.
    private long left;
    private long leftMax;
    private long sequence;
    private long refillNs;

    /// A member comes.
    ///
    /// @param windowSlots of the stream
    /// @param nextSequence of the stream
    public void begin(final int windowSlots, final long nextSequence, final long nowNs) {
        leftMax = (long) DATAGRAMS_PER_REPAIR * Math.max(FLOOR, windowSlots);
        left = (long) DATAGRAMS_PER_REPAIR * FLOOR;
        sequence = nextSequence;
        refillNs = nowNs;
    }

    /// The stream has come up to a sequence: call before [#take].
    public void refill(final long nextSequence, final long nowNs) {
        final long intervals = Math.max(0, nowNs - refillNs) / INTERVAL_NS;
        final long earned = Math.max(0, nextSequence - sequence) + DATAGRAMS_PER_REPAIR * intervals;
        left = Math.min(leftMax, left + earned);
        sequence = Math.max(sequence, nextSequence);
        refillNs += intervals * INTERVAL_NS;
    }

    public boolean isUsedUp() {
        return left < DATAGRAMS_PER_REPAIR;
    }

    /// Takes one repair.
    ///
    /// @return false where the budget is used up
    public boolean take() {
        if (isUsedUp()) {
            return false;
        }
        left -= DATAGRAMS_PER_REPAIR;
        return true;
    }
}
