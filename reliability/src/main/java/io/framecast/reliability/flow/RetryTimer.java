package io.framecast.reliability.flow;

/// When a datagram that is not answered is sent again: at doubling intervals, until its attempts are used up.
///
/// Pure state; one thread; times in nanoseconds since the engine's start.
public final class RetryTimer {
    /// Nothing is due.
    public static final long NEVER = Long.MAX_VALUE;

    private final long firstNs;
    private final long mostNs;
    private final int attemptsMax;
    private int attempts;
    private long dueNs = NEVER;

    /// @param firstNs interval behind the first attempt
    /// @param mostNs longest interval
    /// @param attemptsMax attempts in all
    public RetryTimer(final long firstNs, final long mostNs, final int attemptsMax) {
        this.firstNs = firstNs;
        this.mostNs = mostNs;
        this.attemptsMax = attemptsMax;
    }

    /// The first attempt is due at this time.
    public void begin(final long nowNs) {
        attempts = 0;
        dueNs = nowNs;
    }

    /// The next attempt is due at this time; those that were made still count.
    public void resume(final long nowNs) {
        dueNs = nowNs;
    }

    /// The attempts count anew; the time of the next stays.
    public void reset() {
        attempts = 0;
    }

    /// Nothing is due any more.
    public void stop() {
        dueNs = NEVER;
    }

    public boolean isDue(final long nowNs) {
        return nowNs >= dueNs;
    }

    /// Whether every attempt was made.
    public boolean isExhausted() {
        return attempts >= attemptsMax;
    }

    /// An attempt is made.
    public void onAttempt(final long nowNs) {
        // No shift reaches the sign bit: intervals are bounded by the longest.
        final long intervalNs = firstNs << Math.min(attempts, Long.numberOfLeadingZeros(firstNs) - 1);
        dueNs = nowNs + Math.min(mostNs, intervalNs);
        attempts++;
    }

    /// The time of the next attempt, or [#NEVER].
    public long dueNs() {
        return dueNs;
    }
}
