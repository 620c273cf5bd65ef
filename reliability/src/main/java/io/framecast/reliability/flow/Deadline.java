package io.framecast.reliability.flow;

/// The end of a wait. Times are of one monotonic clock, whatever it counts from: differences alone count.
///
/// @param startNs when the wait began
/// @param longestNs how long it may take; [Long#MAX_VALUE] for a wait without an end
public record Deadline(long startNs, long longestNs) {
    /// Of a wait without an end.
    public static final Deadline NEVER = new Deadline(0, Long.MAX_VALUE);

    /// The time that is left; 0 or less where the wait is over.
    public long leftNs(final long nowNs) {
        return longestNs == Long.MAX_VALUE ? longestNs : longestNs - (nowNs - startNs);
    }

    /// Whether the wait is over.
    public boolean isOver(final long nowNs) {
        return leftNs(nowNs) <= 0;
    }
}
