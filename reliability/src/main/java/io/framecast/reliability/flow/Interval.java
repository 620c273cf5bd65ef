package io.framecast.reliability.flow;

/// The least time between two actions of one kind, such as reports of a cause that lasts. The first is due at
/// once.
///
/// Pure state; one thread.
public final class Interval {
    private final long lengthNs;
    private long dueNs;

    public Interval(final long lengthNs) {
        this.lengthNs = lengthNs;
    }

    /// Whether the action is due.
    public boolean isDue(final long nowNs) {
        return nowNs >= dueNs;
    }

    /// Begins the next interval where the action is due.
    ///
    /// @return whether it is due: it is done now
    public boolean take(final long nowNs) {
        if (!isDue(nowNs)) {
            return false;
        }
        begin(nowNs);
        return true;
    }

    /// The action is done now, or is not due before an interval is over.
    public void begin(final long nowNs) {
        dueNs = nowNs + lengthNs;
    }
}
