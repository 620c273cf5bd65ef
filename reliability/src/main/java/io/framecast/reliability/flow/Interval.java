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

    /// The action is done now.
    public void begin(final long nowNs) {
        dueNs = nowNs + lengthNs;
    }
}
