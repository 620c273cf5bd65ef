package io.framecast.reliability.send;

import io.framecast.reliability.flow.HeartbeatScheduler;
import io.framecast.reliability.window.SendWindow;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.HeartbeatLayout;
import io.framecast.reliability.wire.HeartbeatValues;
import io.framecast.reliability.wire.StreamInfo;
import java.nio.charset.StandardCharsets;

/// A source's heartbeats: when they are due, what they announce, and answers to receivers that ask for one.
///
/// A heartbeat announces no datagram that waits in the transport, because a heartbeat that overtook it would make a
/// receiver miss a datagram that was never sent. One thread.
final class Heartbeats {
    // Between heartbeats that receivers which are no members ask for.
    private static final long SOLICIT_INTERVAL_NS = 10_000_000;

    private final StreamInfo stream;
    private final SendWindow window;
    private final MemberTable members;
    private final MemberGate output;
    private final Counts<SenderCount> counts;
    private final ControlWriter ids;
    private final HeartbeatScheduler due;
    private final HeartbeatValues values = new HeartbeatValues();
    private final byte[] channel;
    private final long clockOffsetNs;
    private long waiting;
    private long sent;
    private long solicitedNs;

    Heartbeats(
            final SenderConfig config,
            final SendWindow window,
            final MemberTable members,
            final MemberGate output,
            final Counts<SenderCount> counts,
            final ControlWriter ids) {
        stream = config.stream();
        this.window = window;
        this.members = members;
        this.output = output;
        this.counts = counts;
        this.ids = ids;
        due = new HeartbeatScheduler(stream.aliveTimeoutNs());
        channel = stream.channel().getBytes(StandardCharsets.US_ASCII);
        clockOffsetNs = config.clockOffsetNs();
    }

    /// Datagrams were sent.
    void onDataSent(final long nowNs) {
        due.onDataSent(nowNs);
    }

    /// Datagrams that may be sent wait until a time.
    void onDataDue(final long untilNs, final long nowNs) {
        due.onDataDue(untilNs, nowNs);
    }

    /// A heartbeat is due now.
    void onUrgent(final long nowNs) {
        due.onUrgent(nowNs);
    }

    /// The last `count` datagrams below `next` wait in the transport.
    void onWaiting(final long next, final long count, final long nowNs) {
        sent = Math.max(sent, next - count);
        if (count != waiting) {
            waiting = count;
            due.onDataSent(nowNs);
        }
    }

    /// Whether datagrams wait in the transport.
    boolean isWaiting() {
        return waiting > 0;
    }

    /// Behind the last datagram that heartbeats say was sent: the transport holds none of them any more. It never
    /// goes back, although probes wait where data do: receivers take an epoch's end from it.
    long announced(final long next) {
        return Math.max(sent, next - waiting);
    }

    /// Sends a heartbeat to all receivers.
    ///
    /// @param flags of [HeartbeatLayout] that the caller knows
    /// @param next sequence that is sent next
    /// @param ending whether no more frames will be committed
    void send(final int flags, final long next, final boolean ending, final long nowNs) {
        final boolean unacknowledged = members.acknowledgedByAll(next) < next;
        final boolean blocked = window.committed() > next || window.isFull();
        int all = flags;
        if (unacknowledged || blocked) {
            all |= HeartbeatLayout.FLAG_ACK_REQUEST;
        }
        if (announced(next) == window.boundaryFrom(next)) {
            all |= HeartbeatLayout.FLAG_BOUNDARY;
        }
        ids.receiver(0);
        describe(next, nowNs);
        output.multicastControl(HeartbeatLayout.write(ids.in(output.control()), all, stream, channel, values));
        counts.add(SenderCount.HEARTBEATS);
        due.onSent(unacknowledged || blocked || ending, members.active(), nowNs);
    }

    private HeartbeatValues describe(final long next, final long nowNs) {
        final long announced = announced(next);
        return values.progress(announced, window.frameIdFrom(window.boundaryFrom(next)))
                .repairable(Math.max(0, announced - window.freed()))
                .timing(nowNs, members.rttNs(), members.active())
                .clock(nowNs + clockOffsetNs);
    }

    /// Answers a member that asked for a heartbeat of its own.
    ///
    /// @param askedNs the member's clock when it asked
    void answer(final int member, final long askedNs, final long next, final long nowNs) {
        // No earlier than the question, whose age nowNs does not know.
        final long clockNs = output.timeNs(nowNs) + clockOffsetNs;
        ids.receiver(members.of(member).id);
        describe(next, nowNs).clock(clockNs).answer(askedNs, clockNs);
        output.sendControl(member, HeartbeatLayout.write(ids.in(output.control()), 0, stream, channel, values));
        values.answer(HeartbeatLayout.NO_CLOCK, 0);
    }

    /// Another receiver asked: the next heartbeat to all goes out at once. An attacker must not make a source
    /// send to an address of its choice.
    void onSolicit(final long nowNs) {
        if (nowNs >= solicitedNs) {
            solicitedNs = nowNs + SOLICIT_INTERVAL_NS;
            due.onUrgent(nowNs);
        }
    }

    long nextDeadlineNs() {
        return due.nextDeadlineNs();
    }
}
