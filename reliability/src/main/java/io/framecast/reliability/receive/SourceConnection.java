package io.framecast.reliability.receive;

import io.framecast.reliability.flow.AckScheduler;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.CreditWord;
import io.framecast.reliability.wire.RcConnectLayout;
import io.framecast.reliability.wire.Verdict;
import java.lang.foreign.MemorySegment;

/// A receiver's actions on its source's memory: it writes its grants into its credit word, and reads missing
/// datagrams out of the window. Where the connection does not stand, breaks or is slow, datagrams carry all of
/// that. A broken connection is not made again before the receiver joins again.
///
/// One thread. The caller of the machine reports the outcome of each request.
public final class SourceConnection {
    // After this time a write or read does not count on arriving: grants go by datagram, and NACKs request repairs,
    // until it completes.
    private static final long SLOW_MIN_NS = 20_000_000;
    // A datagram does not make the round trip sooner.
    private static final int SLOW_RTTS = 4;
    private static final long RTT_MAX_NS = 1_000_000_000;

    // As in AckScheduler: a small growth is announced a little later.
    private static final long DELAY_MAX_NS = 1_000_000;
    private static final long ROOM_RETRY_NS = 50_000;
    private static final long NEVER = Long.MAX_VALUE;
    private static final int PARTS = 16;

    private enum Stage {
        NONE,
        CONNECTING,
        UP,
        BROKEN
    }

    private final ReceiverOutput output;
    private final ReceiveLedger ledger;
    private final AckScheduler acks;
    private final Counts<ReceiverCount> counts;
    private final long stepDatagrams;
    private Stage stage = Stage.NONE;
    private int epoch;
    private boolean feeding;
    // The grant written last, and the last one known to have arrived.
    private long written;
    private long confirmed;
    private long writtenSpan;
    private long dueNs = NEVER;
    private long pendingNs = NEVER;
    private boolean slowReported;
    private long slowNs = SLOW_MIN_NS;

    SourceConnection(
            final ReceiverConfig config,
            final ReceiverOutput output,
            final ReceiveLedger ledger,
            final AckScheduler acks,
            final Counts<ReceiverCount> counts) {
        this.output = output;
        this.ledger = ledger;
        this.acks = acks;
        this.counts = counts;
        stepDatagrams = Math.max(1, config.firstGrantSlots() / PARTS);
    }

    /// RC_CONNECT.
    Verdict onOffer(final MemorySegment datagram, final long offset) {
        if (!RcConnectLayout.isValid(datagram, offset)) {
            return Verdict.IMPOSSIBLE;
        }
        if (stage == Stage.NONE) {
            epoch = RcConnectLayout.EPOCH.get(datagram, offset);
            feeding = RcConnectLayout.isFeeding(datagram, offset);
            stage = output.remote().connectToSource(RcConnectLayout.offer(datagram, offset))
                    ? Stage.CONNECTING
                    : Stage.BROKEN;
            counts.add(ReceiverCount.LINK_FAILURES, stage == Stage.BROKEN ? 1 : 0);
        }
        return Verdict.GOOD;
    }

    /// The connection stands: the first grant shows that to the source.
    public void onUp(final long nowNs) {
        if (stage == Stage.CONNECTING) {
            stage = Stage.UP;
            dueNs = nowNs;
            onTick(nowNs);
        }
    }

    /// The word written last is in the source's memory.
    public void onWritten(final long nowNs) {
        pendingNs = NEVER;
        slowReported = false;
        confirmed = written;
        onCredit(nowNs);
    }

    /// The connection is gone, or could not be made.
    public void onBroken(final long nowNs) {
        if (stage == Stage.CONNECTING || stage == Stage.UP) {
            stage = Stage.BROKEN;
            dueNs = NEVER;
            pendingNs = NEVER;
            counts.add(ReceiverCount.LINK_FAILURES);
            acks.onRequest(nowNs);
        }
    }

    /// HEARTBEAT: the group's round-trip time.
    void onRtt(final long rttNs) {
        slowNs = Math.max(SLOW_MIN_NS, SLOW_RTTS * Math.min(rttNs, RTT_MAX_NS));
    }

    /// A read or write that takes longer is slow.
    public long slowNs() {
        return slowNs;
    }

    /// Whether the connection stands.
    public boolean isUp() {
        return stage == Stage.UP;
    }

    /// Whether the source would write into a co-root's replica over the connection.
    boolean isFeeding() {
        return feeding;
    }

    /// Whether missing datagrams may be read out of the window.
    boolean mayRead(final long nowNs) {
        return isCurrent(nowNs);
    }

    /// Whether the source learns grants from its memory, and soon.
    boolean isCurrent(final long nowNs) {
        return stage == Stage.UP && confirmed > 0 && !isSlow(nowNs);
    }

    private boolean isSlow(final long nowNs) {
        return pendingNs != NEVER && nowNs - pendingNs >= slowNs;
    }

    /// The largest grant that is in the source's memory.
    long confirmed() {
        return confirmed;
    }

    /// More can be granted, or slots were used.
    void onCredit(final long nowNs) {
        if (stage != Stage.UP || pendingNs != NEVER) {
            return;
        }
        final long growth = ledger.grant() - written;
        if (growth <= 0) {
            return;
        }
        final boolean half = ledger.end() >= written - (writtenSpan >>> 1);
        if (growth >= stepDatagrams || half || nowNs >= dueNs) {
            write(nowNs);
        } else {
            dueNs = Math.min(dueNs, nowNs + DELAY_MAX_NS);
        }
    }

    private void write(final long nowNs) {
        final long grant = ledger.grant();
        if (!ledger.promiseApart(grant) || !output.remote().writeCredit(CreditWord.of(epoch, grant))) {
            dueNs = nowNs + ROOM_RETRY_NS;
            return;
        }
        // The source may use this grant from now on.
        ledger.grantedApart(grant);
        written = grant;
        writtenSpan = Math.max(0, grant - ledger.end());
        pendingNs = nowNs;
        dueNs = NEVER;
        counts.add(ReceiverCount.GRANTS_WRITTEN);
    }

    /// Writes the grant when that is due; if a write is slow, the grant goes by datagram.
    void onTick(final long nowNs) {
        if (pendingNs == NEVER && nowNs >= dueNs) {
            onCredit(nowNs);
            dueNs = dueNs <= nowNs ? NEVER : dueNs;
        }
        if (!isSlow(nowNs)) {
            // By a longer round-trip time, the write may not count as slow any more.
            slowReported = false;
        } else if (!slowReported) {
            slowReported = true;
            counts.add(ReceiverCount.SLOW_WRITES);
            acks.onRequest(nowNs);
        }
    }

    long nextDeadlineNs() {
        if (pendingNs == NEVER) {
            return dueNs;
        }
        return slowReported ? NEVER : pendingNs + slowNs;
    }
}
