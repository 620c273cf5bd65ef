package io.framecast.reliability.receive;

import io.framecast.reliability.flow.Standstill;
import io.framecast.reliability.wire.AckLayout;
import io.framecast.reliability.wire.AckValues;
import io.framecast.reliability.wire.LeaveLayout.Reason;

/// A receiver's knowledge of its source's life: the time it was heard, its clock to be echoed, the round-trip time,
/// its goodbye, and the signs that it does not serve this receiver. A goodbye takes effect a little later, because
/// earlier datagrams may still be under way on another lane.
///
/// Pure state; one thread.
final class SourceWatch {
    static final long GRACE_MIN_NS = 1_000_000;
    // Bounds of any announced timeout: neither a hiccup nor an hour.
    static final long SILENCE_MIN_NS = 100_000_000;
    static final long SILENCE_MAX_NS = 60_000_000_000L;

    // After a stop of nearly the source's timeout, the source was heard just before the stop.
    private static final int WORDS_PER_SILENCE = 16;

    private static final long RTT_MIN_NS = 1_000;
    private static final long RTT_INITIAL_NS = 2_000_000;

    private static final long ALIVE_MIN_NS = 10_000_000;

    private final long silenceNs;
    private final long ackIdleNs;
    private long heardNs;
    private long excusedNs = Long.MIN_VALUE;
    private long echoTimeNs = AckLayout.NO_ECHO;
    private long echoHeardNs;
    private long rttNs = RTT_INITIAL_NS;
    private long goodbyeNs = Long.MAX_VALUE;
    private Reason reason = Reason.SILENT;
    // When the source counts as lost unless a heartbeat shows before then that it serves this receiver.
    private long unservedNs = Long.MAX_VALUE;
    private Reason unservedReason = Reason.UNKNOWN;

    SourceWatch(final long aliveTimeoutNs) {
        silenceNs = Math.clamp(aliveTimeoutNs, SILENCE_MIN_NS, SILENCE_MAX_NS);
        ackIdleNs = Math.clamp(aliveTimeoutNs, ALIVE_MIN_NS, SILENCE_MAX_NS) / WORDS_PER_SILENCE;
    }

    /// The longest time between two ACKs to the source.
    long ackIdleNs() {
        return ackIdleNs;
    }

    /// Silence after which the source is lost.
    long silenceNs() {
        return silenceNs;
    }

    void onHeard(final long nowNs) {
        heardNs = nowNs;
    }

    void onHeartbeat(final long sourceTimeNs, final long groupRttNs, final long nowNs) {
        heardNs = nowNs;
        echoTimeNs = sourceTimeNs;
        echoHeardNs = nowNs;
        rttNs = Math.max(RTT_MIN_NS, groupRttNs);
    }

    /// This process stood still until now. The excuse holds once between two datagrams of the source: otherwise a
    /// process that stands still again and again would never notice that its source is gone.
    void onStandstill(final long nowNs) {
        final long askedNs = Standstill.askedNs(silenceNs, nowNs);
        if (askedNs > heardNs && heardNs != excusedNs) {
            heardNs = askedNs;
            excusedNs = askedNs;
        }
        unservedNs = unservedNs == Long.MAX_VALUE ? unservedNs : Math.max(unservedNs, askedNs + silenceNs);
    }

    /// Whether the source notified this receiver that it is no member.
    boolean isEvicted() {
        return goodbyeNs != Long.MAX_VALUE && reason != Reason.CLOSED;
    }

    long rttNs() {
        return rttNs;
    }

    /// Puts the newest heartbeat's time into an ACK, once.
    void echo(final AckValues values, final long nowNs) {
        values.echo(echoTimeNs, nowNs - echoHeardNs);
        echoTimeNs = AckLayout.NO_ECHO;
    }

    /// Puts no time into an ACK: it does not go to the source.
    void echoNothing(final AckValues values) {
        values.echo(AckLayout.NO_ECHO, 0);
    }

    /// The source said goodbye; the first goodbye counts.
    void onGoodbye(final Reason why, final long nowNs) {
        if (goodbyeNs == Long.MAX_VALUE) {
            reason = why;
            goodbyeNs = nowNs + graceNs();
        }
    }

    /// Something new arrived: more datagrams from before the source closed may follow. An evicted receiver waits
    /// for nothing, because the data of the members flows on.
    void onData(final long nowNs) {
        if (goodbyeNs != Long.MAX_VALUE && reason == Reason.CLOSED) {
            goodbyeNs = nowNs + graceNs();
        }
    }

    /// A heartbeat shows that the source may still send the datagrams that this receiver lacks.
    void onServed() {
        unservedNs = Long.MAX_VALUE;
    }

    /// A heartbeat shows that the source will never send a datagram that this receiver lacks. The source has half
    /// of its timeout to give the reason, or to correct it: a forged heartbeat ends nothing while the source's own
    /// come.
    void onUnserved(final Reason why, final long nowNs) {
        unservedReason = why;
        unservedNs = Math.min(unservedNs, nowNs + silenceNs / 2);
    }

    private long graceNs() {
        return Math.max(GRACE_MIN_NS, rttNs);
    }

    /// Whether the source is gone by now.
    boolean isLost(final long nowNs) {
        return nowNs >= goodbyeNs || nowNs >= unservedNs || isSilent(nowNs);
    }

    boolean isSilent(final long nowNs) {
        return nowNs - heardNs > silenceNs;
    }

    /// The reason why the source is gone by now.
    Reason reason(final long nowNs) {
        return goodbyeNs == Long.MAX_VALUE && nowNs >= unservedNs ? unservedReason : reason;
    }

    /// The time at which silence, a goodbye, or the lack of service takes effect.
    long lostNs() {
        return Math.min(Math.min(goodbyeNs, unservedNs), silentNs());
    }

    long silentNs() {
        return heardNs + silenceNs + 1;
    }
}
