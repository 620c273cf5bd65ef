package io.framecast.reliability.flow;

/// The time of a receiver's acknowledgements: the earliest of M datagrams, half the advertised credit used, a
/// request, the end of a frame, and a timer. M is at most a quarter of one grant's datagrams, skewed by receiver so
/// that a group does not answer at once (Subramoni: "skew the ACK's sent by each node").
///
/// Pure state; one thread. Times are nanoseconds since the engine's start.
public final class AckScheduler {
    /// After the first datagram not yet acknowledged.
    public static final long DELAY_MAX_NS = 1_000_000;
    /// After a frame's last datagram: long enough for a run of small frames to share one ACK.
    public static final long FRAME_DELAY_NS = 100_000;

    // Sooner than the request of a source that paused.
    private static final long FRAME_DELAY_APART_NS = 300_000;

    // A group's grant is sent earlier than a receiver's own, because it is older when the co-root knows it.
    private static final int AGGREGATE_PARTS = 2;

    // For credit that does not travel in ACKs: the ACKs in a window, and the factor of their delays.
    private static final int APART = 4;

    private final long everyDatagrams;
    private final long idleIntervalNs;
    private boolean creditApart;
    private long apartDatagrams = 1;
    private long apartFrameDelayNs = FRAME_DELAY_NS;
    private long unacknowledged;
    private long advertisedGrant;
    private long advertisedSpan;
    private long dueNs = Long.MAX_VALUE;
    private long keepAliveNs;
    private AckTrigger trigger = AckTrigger.TIMER;
    private final long[] sent = new long[AckTrigger.values().length];

    /// Makes a scheduler.
    ///
    /// @param grantDatagrams datagrams that the largest grant covers
    /// @param skew 0 … 1, this receiver's place within the last eighth of the interval
    /// @param idleIntervalNs longest silence, so that the source knows this receiver lives
    public AckScheduler(final long grantDatagrams, final double skew, final long idleIntervalNs) {
        final long quarter = Math.max(1, grantDatagrams / 4);
        everyDatagrams = Math.max(1, quarter - (long) (skew * (quarter >>> 3)));
        this.idleIntervalNs = idleIntervalNs;
    }

    /// Before the first datagram: sets the rate of ACKs for the case that credit does not travel in them.
    ///
    /// @param windowSlots slots of the source's window, which acknowledgements then free
    /// @param frameMaxSlots the longest frame; where two do not fit the window, the next one waits for an
    ///     acknowledgement
    public void apart(final long windowSlots, final long frameMaxSlots) {
        apartDatagrams = Math.max(1, windowSlots / APART);
        apartFrameDelayNs = 2 * frameMaxSlots > windowSlots ? FRAME_DELAY_NS : FRAME_DELAY_APART_NS;
    }

    /// Whether credit travels apart from ACKs: then fewer acknowledgements suffice.
    public void creditApart(final boolean value) {
        creditApart = value;
    }

    private void onReceivedApart(final boolean frameEnd, final long nowNs) {
        if (unacknowledged >= apartDatagrams) {
            due(nowNs, AckTrigger.DATAGRAMS);
        } else if (frameEnd) {
            due(nowNs + apartFrameDelayNs, AckTrigger.FRAME_END);
        } else {
            due(nowNs + APART * DELAY_MAX_NS, AckTrigger.TIMER);
        }
    }

    /// New datagrams of the data or repair lane arrived.
    ///
    /// @param highest 1 + highest sequence received
    public void onReceived(final int count, final long highest, final boolean frameEnd, final long nowNs) {
        unacknowledged += count;
        if (creditApart) {
            onReceivedApart(frameEnd, nowNs);
        } else if (unacknowledged >= everyDatagrams) {
            due(nowNs, AckTrigger.DATAGRAMS);
        } else if (highest >= advertisedGrant - (advertisedSpan >>> 1)) {
            due(nowNs, AckTrigger.HALF_CREDIT);
        } else if (frameEnd) {
            due(nowNs + FRAME_DELAY_NS, AckTrigger.FRAME_END);
        } else {
            due(nowNs + DELAY_MAX_NS, AckTrigger.TIMER);
        }
    }

    // The earliest counts.
    private void due(final long timeNs, final AckTrigger cause) {
        if (timeNs < dueNs) {
            dueNs = timeNs;
            trigger = cause;
        }
    }

    /// A duplicate arrived: the source may have missed an ACK. But its repair may have gone to several receivers
    /// for the request of one, and the others must not all answer at once.
    public void onDuplicate(final long nowNs) {
        due(nowNs + DELAY_MAX_NS, AckTrigger.TIMER);
    }

    /// The source asked.
    public void onRequest(final long nowNs) {
        due(nowNs, AckTrigger.REQUEST);
    }

    /// Slots were freed.
    ///
    /// @param grant the grant that could be advertised now
    /// @param highest 1 + highest sequence received
    public void onGrant(final long grant, final long highest, final long nowNs) {
        final long growth = grant - advertisedGrant;
        if (growth <= 0 || creditApart) {
            return;
        }
        // A source that waits at the old grant gets the new one at once; otherwise the growth must be worth a
        // datagram.
        if (highest >= advertisedGrant || growth >= everyDatagrams) {
            due(nowNs, AckTrigger.CREDIT);
        } else {
            due(nowNs + DELAY_MAX_NS, AckTrigger.CREDIT);
        }
    }

    /// The values of a co-root's group have changed. Its members' ACKs come one by one, so a change that only frees
    /// the source's window waits for more of them.
    ///
    /// @param advanced growth of the group's acknowledgement since the last aggregate
    /// @param grant the grant that could be advertised now
    /// @param highest 1 + highest sequence received
    public void onAggregate(final long advanced, final long grant, final long highest, final long nowNs) {
        final long growth = grant - advertisedGrant;
        if (growth > 0 && (growth >= everyDatagrams / AGGREGATE_PARTS || highest >= advertisedGrant)) {
            due(nowNs, AckTrigger.CREDIT);
        } else if (growth > 0 || advanced > 0) {
            due(nowNs + DELAY_MAX_NS, AckTrigger.TIMER);
        }
    }

    public boolean isDue(final long nowNs) {
        return nowNs >= dueNs || nowNs >= keepAliveNs;
    }

    /// Whether an ACK is due, now or soon.
    public boolean isPending() {
        return dueNs != Long.MAX_VALUE;
    }

    /// An ACK was sent.
    public void onSent(final long grant, final long highest, final long nowNs) {
        onSent(nowNs >= dueNs ? trigger : AckTrigger.TIMER, grant, highest, nowNs);
    }

    /// An acknowledgement was sent inside another datagram.
    public void onPiggyback(final long grant, final long highest, final long nowNs) {
        onSent(AckTrigger.PIGGYBACK, grant, highest, nowNs);
    }

    private void onSent(final AckTrigger cause, final long grant, final long highest, final long nowNs) {
        sent[cause.ordinal()]++;
        unacknowledged = 0;
        advertisedGrant = grant;
        advertisedSpan = Math.max(0, grant - highest);
        dueNs = Long.MAX_VALUE;
        keepAliveNs = nowNs + idleIntervalNs;
    }

    /// Acknowledgements that this trigger made due.
    public long sent(final AckTrigger cause) {
        return sent[cause.ordinal()];
    }

    public long nextDeadlineNs() {
        return Math.min(dueNs, keepAliveNs);
    }
}
