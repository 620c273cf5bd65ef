package io.framecast.reliability.flow;

/// The time of a source's heartbeats: soon after the last datagram of a burst, so that receivers notice a lost
/// tail, then ever more rarely. Heartbeats are regular while the source streams, and while it waits for an answer.
/// Behind data that everybody acknowledged, the next one only keeps members and round-trip times alive.
///
/// Pure state; one thread. Times are nanoseconds since the engine's start.
public final class HeartbeatScheduler {
    /// After the last datagram sent.
    public static final long TAIL_NS = 400_000;
    /// While data flows, so that round-trip times stay fresh.
    public static final long STREAMING_NS = 10_000_000;
    /// While data is unacknowledged.
    public static final long WAITING_MAX_NS = 20_000_000;
    /// While nothing happens; a subscriber that starts finds the source within this.
    public static final long IDLE_MAX_NS = 250_000_000;
    /// While there are no members.
    public static final long ALONE_MAX_NS = 100_000_000;

    private final long idleMaxNs;
    private long lastNs;
    private long intervalNs = TAIL_NS;
    private long dueNs;
    // The last heartbeats followed data, and nothing else.
    private boolean behindData;

    /// Makes a scheduler whose first heartbeat is due at once.
    public HeartbeatScheduler(final long aliveTimeoutNs) {
        idleMaxNs = Math.min(IDLE_MAX_NS, aliveTimeoutNs / 5);
    }

    public void onDataSent(final long nowNs) {
        behindData = true;
        onDataDue(nowNs, nowNs);
    }

    /// Data waits, and is sent at a time: the datagram sent last is no tail. An urgent heartbeat stays urgent.
    public void onDataDue(final long dataNs, final long nowNs) {
        if (behindData) {
            intervalNs = TAIL_NS;
            dueNs = Math.max(nowNs, Math.min(dataNs + TAIL_NS, lastNs + STREAMING_NS));
        }
    }

    /// A heartbeat is due now: a new member, whose round-trip time is not known, end of stream, or a full window.
    public void onUrgent(final long nowNs) {
        dueNs = nowNs;
        behindData = false;
        intervalNs = TAIL_NS;
    }

    /// A heartbeat was sent.
    ///
    /// @param waiting whether the source waits for an answer
    /// @param members how many it has
    public void onSent(final boolean waiting, final int members, final long nowNs) {
        lastNs = nowNs;
        final long answerMaxNs = Math.min(WAITING_MAX_NS, idleMaxNs);
        final long quietMaxNs = members > 0 ? idleMaxNs : Math.min(ALONE_MAX_NS, idleMaxNs);
        if (behindData && !waiting) {
            intervalNs = Math.max(intervalNs, answerMaxNs);
        }
        dueNs = nowNs + intervalNs;
        intervalNs = Math.min(waiting ? answerMaxNs : quietMaxNs, 2 * intervalNs);
    }

    public long nextDeadlineNs() {
        return dueNs;
    }
}
