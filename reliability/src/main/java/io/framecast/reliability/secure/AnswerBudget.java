package io.framecast.reliability.secure;

/// A number of answers: a burst, then a steady trickle. Receivers repeat a question that was not answered.
///
/// Pure state; one thread.
final class AnswerBudget {
    private final int burst;
    private final long intervalNs;
    private int left;
    private long refilledNs;

    AnswerBudget(final int burst, final long intervalNs) {
        this.burst = burst;
        this.intervalNs = intervalNs;
        left = burst;
    }

    /// Takes one answer.
    ///
    /// @return false where none is left
    boolean take(final long nowNs) {
        final long refills = Math.min(burst, (nowNs - refilledNs) / intervalNs);
        if (refills > 0) {
            left = (int) Math.min(burst, left + refills);
            refilledNs = nowNs;
        }
        if (left == 0) {
            return false;
        }
        left--;
        return true;
    }
}
