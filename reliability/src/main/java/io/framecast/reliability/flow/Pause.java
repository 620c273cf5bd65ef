package io.framecast.reliability.flow;

/// The least time between two events of one kind, such as lines in a log or looks at a table.
///
/// Pure state; one thread. Times are nanoseconds since the engine's start.
public final class Pause {
    private final long pauseNs;
    private long overNs;

    /// Makes a pause that is over: the first event may come at once.
    ///
    /// @param pauseNs time between two events
    public Pause(final long pauseNs) {
        this.pauseNs = pauseNs;
    }

    /// Begins the pause behind an event, where the one behind the last event is over.
    ///
    /// @return whether it was over: the event takes place now
    public boolean take(final long nowNs) {
        if (nowNs < overNs) {
            return false;
        }
        begin(nowNs);
        return true;
    }

    /// The next event comes no earlier than a pause from now.
    public void begin(final long nowNs) {
        overNs = nowNs + pauseNs;
    }
}
