package io.framecast.reliability.flow;

/// The offset between two clocks of one host, from readings of the other clock between two of the first. The
/// narrowest reading serves: a thread that is preempted between the readings must not shift one clock against the
/// other.
///
/// Pure state; one thread. Times are nanoseconds.
public final class ClockReadings {
    private long narrowestNs = Long.MAX_VALUE;
    private long offsetNs;

    /// A reading.
    ///
    /// @param beforeNs the first clock before it
    /// @param otherNs the other clock
    /// @param afterNs the first clock behind it
    public void add(final long beforeNs, final long otherNs, final long afterNs) {
        final long widthNs = afterNs - beforeNs;
        if (widthNs < narrowestNs) {
            narrowestNs = widthNs;
            offsetNs = otherNs - beforeNs - widthNs / 2;
        }
    }

    /// The other clock less the first one; 0 before the first reading.
    public long offsetNs() {
        return offsetNs;
    }

    /// By how much the offset may be wrong.
    public long errorNs() {
        return narrowestNs / 2 + 1;
    }
}
