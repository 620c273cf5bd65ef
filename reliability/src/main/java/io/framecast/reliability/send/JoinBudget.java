package io.framecast.reliability.send;

/// The number of JOINs that a source answers: a burst of receivers that start together, then a steady trickle, so
/// that a flood cannot make it send a full-size probe for each. Receivers repeat an unanswered JOIN.
///
/// Pure state; one thread.
public final class JoinBudget {
    public static final int BURST_MAX = 64;
    static final long INTERVAL_NS = 250_000;
    /// Time between two answers to one receiver, which repeats itself after twice this time.
    static final long MEMBER_INTERVAL_NS = 10_000_000;

    private int left = BURST_MAX;
    private long refillNs;

    /// Takes one answer.
    boolean take(final long nowNs) {
        final long refills = Math.min(BURST_MAX, (nowNs - refillNs) / INTERVAL_NS);
        if (refills > 0) {
            left = (int) Math.min(BURST_MAX, left + refills);
            refillNs = nowNs;
        }
        if (left == 0) {
            return false;
        }
        left--;
        return true;
    }
}
