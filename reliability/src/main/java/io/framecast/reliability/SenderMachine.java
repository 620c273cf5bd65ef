package io.framecast.reliability;

import io.framecast.reliability.MemberTable.State;
import io.framecast.reliability.flow.HeartbeatScheduler;
import io.framecast.reliability.repair.RetransmitScheduler;
import io.framecast.reliability.window.SendWindow;
import io.framecast.reliability.wire.AckLayout;
import io.framecast.reliability.wire.AdmitLayout;
import io.framecast.reliability.wire.ControlIds;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.FrameLayout;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.HeartbeatLayout;
import io.framecast.reliability.wire.HeartbeatValues;
import io.framecast.reliability.wire.JoinLayout;
import io.framecast.reliability.wire.LeaveLayout;
import io.framecast.reliability.wire.LeaveLayout.Reason;
import io.framecast.reliability.wire.NackLayout;
import io.framecast.reliability.wire.StartLayout;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Verdict;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.random.RandomGenerator;

/// One source's session: who receives, what may be sent, what is sent again, when slots are free.
///
/// The caller sends `[nextSequence, nextSequence + sendable)` as it can and reports with [#onSent]; feeds
/// control datagrams to [#onControl]; calls [#onTick] at [#nextDeadlineNs]; frees the window up to
/// [#releasable].
///
/// No I/O, clock or thread: one caller, times in nanoseconds since the engine's start.
public final class SenderMachine {
    /// Repairs sent in one tick; the rest follows in the next, so that new data and control are never starved.
    public static final int REPAIRS_PER_TICK_MAX = 256;

    /// Sequences looked at for NACKs at one time of the caller's clock; the rest is asked for again.
    static final int REQUESTS_PER_CYCLE_MAX = 16_384;

    // The last resort, behind heartbeats and NACKs: rarely early is worth more than soon.
    private static final long TIMEOUT_MIN_NS = 100_000_000;
    private static final long MEMBER_TICK_NS = 20_000_000;
    private static final long TIMEOUT_MAX_NS = 1_000_000_000;
    private static final long HOLD_OFF_MIN_NS = 200_000;
    private static final int TIMEOUT_DOUBLINGS_MAX = 6;
    // Notices to receivers that are not in the table, so that garbage cannot make the source speak.
    private static final long STRANGER_INTERVAL_NS = 1_000_000;

    private final StreamInfo stream;
    private final SendWindow window;
    private final SenderOutput output;
    private final RandomGenerator random;
    private final MemberTable members;
    private final RetransmitScheduler repairs;
    private final HeartbeatScheduler heartbeats;
    private final JoinBudget joins = new JoinBudget();
    private final HeaderChecksum checksum = new HeaderChecksum();
    private final ControlIds ids;
    private final HeartbeatValues heartbeat;
    private final byte[] channel;
    private final RetransmitScheduler.Output repairOutput = this::repair;
    private final VerdictCounts verdicts = new VerdictCounts();
    private final SenderCounts counts = new SenderCounts();

    private long next;
    private long waiting;
    private long grantedByAll = Long.MAX_VALUE;
    private boolean ending;
    private long strangerNs;
    private long requestsNs = -1;
    private int requestsLeft;
    private long memberDeadlineNs = Long.MAX_VALUE;

    /// Makes a sender over the window that its publisher fills.
    ///
    /// @param random for probe tokens
    public SenderMachine(
            final SenderConfig config,
            final SendWindow window,
            final RandomGenerator random,
            final SenderOutput output) {
        stream = config.stream();
        this.window = window;
        this.random = random;
        this.output = output;
        members = new MemberTable(config.membersMax());
        repairs = new RetransmitScheduler(window);
        heartbeats = new HeartbeatScheduler(stream.aliveTimeoutNs());
        ids = new ControlIds(stream.session());
        heartbeat = new HeartbeatValues(ids);
        channel = stream.channel().getBytes(StandardCharsets.US_ASCII);
    }

    public StreamInfo stream() {
        return stream;
    }

    public VerdictCounts verdicts() {
        return verdicts;
    }

    public SenderCounts counts() {
        return counts;
    }

    public int readyMembers() {
        return members.active();
    }

    public long nextSequence() {
        return next;
    }

    public long grantedSequence() {
        return grantedByAll;
    }

    public long rttNs() {
        return members.rttNs();
    }

    /// Datagrams that are committed and covered by everybody's credit.
    public int sendable() {
        return (int) Math.max(0, Math.min(window.committed(), grantedByAll) - next);
    }

    /// Whether more could be sent than is committed: then an open bundle is taken as it is.
    public boolean isHungry() {
        return next == window.committed() && grantedByAll > next;
    }

    /// Sends the metadata of frames that begin in the next `count` datagrams; call before sending these.
    public void announceMetadata(final int count) {
        for (long sequence = next; sequence < next + count; sequence++) {
            sendMetadata(RetransmitScheduler.EVERYBODY, sequence);
        }
    }

    private void sendMetadata(final int member, final long sequence) {
        final byte[] metadata = window.metadata(sequence);
        if (metadata == null) {
            return;
        }
        ids.receiver(0);
        final int bytes = FrameLayout.write(output.control(), ids, sequence, metadata, checksum);
        if (member == RetransmitScheduler.EVERYBODY) {
            output.multicastControl(bytes);
        } else {
            output.sendControl(member, bytes);
        }
    }

    /// The next `count` datagrams went out.
    public void onSent(final int count, final long nowNs) {
        for (int i = 0; i < count; i++) {
            repairs.onSent(next + i);
        }
        next += count;
        counts.sentDatagrams += count;
        heartbeats.onDataSent(nowNs);
        if (memberDeadlineNs == Long.MAX_VALUE) {
            memberDeadlineNs = nowNs + MEMBER_TICK_NS;
        }
    }

    /// Of what went out, the last `count` datagrams wait in the transport: heartbeats do not speak of them yet, or they
    /// would overtake them and have a receiver miss what was never sent.
    public void onWaiting(final long count, final long nowNs) {
        if (count != waiting) {
            waiting = count;
            heartbeats.onDataSent(nowNs);
        }
    }

    /// Everything below was acknowledged by all members: its slots may be freed.
    public long releasable() {
        return members.acknowledgedByAll(next);
    }

    /// No more frames will be committed: heartbeats say so once everything is sent, unless that ends within a frame.
    public void end(final long nowNs) {
        ending = true;
        heartbeats.onUrgent(nowNs);
    }

    /// Whether everything committed was sent and acknowledged by every member; after [#end] also whether every
    /// member knows that this was the end, so that nobody takes the source's silence for a loss. Never, when the
    /// stream was ended within a frame: that is no end to tell of.
    public boolean isDrained() {
        return isAcknowledged() && (!ending || (!isTorn() && members.isCompleteForAll()));
    }

    /// Whether nothing more can come of waiting: drained, or ended within a frame of which every member has all there
    /// is. Then [#close] tells them.
    public boolean isSettled() {
        return isDrained() || (ending && isTorn() && isAcknowledged());
    }

    private boolean isAcknowledged() {
        return next == window.committed() && members.acknowledgedByAll(next) == next;
    }

    // What was committed ends within a frame.
    private boolean isTorn() {
        return window.boundaryFrom(next) != next;
    }

    /// Tells all members that the session is over, without waiting.
    public void close() {
        ids.receiver(0);
        output.multicastControl(LeaveLayout.writeEvict(output.control(), ids, Reason.CLOSED, checksum));
    }

    /// A datagram of the control lane.
    public Verdict onControl(final MemorySegment datagram, final long offset, final int bytes, final long nowNs) {
        final Verdict common = ControlLayout.check(datagram, offset, bytes, checksum);
        if (common != Verdict.GOOD) {
            return verdicts.count(common);
        }
        if (ControlLayout.session(datagram, offset) != stream.session()) {
            return verdicts.count(Verdict.WRONG_SESSION);
        }
        final int type = ControlLayout.type(datagram, offset);
        if (type == ControlLayout.TYPE_JOIN) {
            return verdicts.count(onJoin(datagram, offset, nowNs));
        }
        final int member = members.find(ControlLayout.receiver(datagram, offset));
        if (member == MemberTable.NONE) {
            onStranger(ControlLayout.receiver(datagram, offset), type, nowNs);
            return verdicts.count(Verdict.UNKNOWN_MEMBER);
        }
        return verdicts.count(dispatch(type, member, datagram, offset, nowNs));
    }

    // Its place was given to another since it was evicted: it must hear that it is no member, or it waits for
    // ever.
    private void onStranger(final long id, final int type, final long nowNs) {
        final boolean speaksAsMember = type == ControlLayout.TYPE_READY
                || type == ControlLayout.TYPE_ACK
                || type == ControlLayout.TYPE_NACK
                || type == ControlLayout.TYPE_FRAME_REQUEST;
        if (speaksAsMember) {
            refuse(id, Reason.UNKNOWN, nowNs);
        }
    }

    // By multicast, for there is no address of one who is not in the table.
    private void refuse(final long id, final Reason reason, final long nowNs) {
        if (id != 0 && nowNs >= strangerNs) {
            strangerNs = nowNs + STRANGER_INTERVAL_NS;
            ids.receiver(id);
            output.multicastControl(LeaveLayout.writeEvict(output.control(), ids, reason, checksum));
        }
    }

    private Verdict dispatch(
            final int type, final int member, final MemorySegment datagram, final long offset, final long nowNs) {
        if (members.state(member) == State.GONE) {
            evict(member, Reason.UNKNOWN);
            return Verdict.UNKNOWN_MEMBER;
        }
        members.heard(member, nowNs);
        return switch (type) {
            case ControlLayout.TYPE_READY -> onReady(member, datagram, offset, nowNs);
            case ControlLayout.TYPE_ACK -> onAck(member, datagram, offset, nowNs);
            case ControlLayout.TYPE_NACK -> onNack(member, datagram, offset, nowNs);
            case ControlLayout.TYPE_FRAME_REQUEST -> onFrameRequest(member, datagram, offset);
            case ControlLayout.TYPE_LEAVE -> onLeave(member, datagram, offset);
            default -> Verdict.BAD_TYPE;
        };
    }

    private Verdict onJoin(final MemorySegment datagram, final long offset, final long nowNs) {
        if (!JoinLayout.isValid(datagram, offset)) {
            return Verdict.IMPOSSIBLE;
        }
        final long id = ControlLayout.receiver(datagram, offset);
        int member = members.find(id);
        if (member != MemberTable.NONE && members.state(member) == State.GONE) {
            evict(member, Reason.UNKNOWN);
            return Verdict.UNKNOWN_MEMBER;
        }
        if (member != MemberTable.NONE && members.state(member) == State.ACTIVE) {
            return Verdict.DUPLICATE;
        }
        final boolean answeredJustNow =
                member != MemberTable.NONE && nowNs - members.answeredNs(member) < JoinBudget.MEMBER_INTERVAL_NS;
        if (answeredJustNow || !joins.take(nowNs)) {
            return Verdict.LIMITED;
        }
        if (member == MemberTable.NONE) {
            member = admit(id, datagram, offset, nowNs);
            if (member == MemberTable.NONE) {
                return Verdict.IMPOSSIBLE;
            }
        }
        if (JoinLayout.ringSlots(datagram, offset) < ReceiverConfig.ringSlotsMin(stream, 1)) {
            evict(member, Reason.RING_TOO_SMALL);
            members.remove(member, State.GONE);
            onRefusal(Reason.RING_TOO_SMALL);
            return Verdict.GOOD;
        }
        members.heard(member, nowNs);
        members.answered(member, nowNs);
        // The same token for every repetition, so that an early probe does for a late ADMIT.
        final int token = members.token(member);
        ids.receiver(id);
        output.sendControl(member, AdmitLayout.writeAdmit(output.control(), ids, token, checksum));
        output.probe(token);
        return Verdict.GOOD;
    }

    private void onRefusal(final Reason reason) {
        counts.refusals++;
        counts.refusalReason = reason;
    }

    private int admit(final long id, final MemorySegment datagram, final long offset, final long nowNs) {
        final int member = members.vacancy(nowNs);
        if (member == MemberTable.NONE) {
            onRefusal(Reason.FULL);
            refuse(id, Reason.FULL, nowNs);
            return MemberTable.NONE;
        }
        if (members.state(member) != State.FREE) {
            output.disconnect(member);
            members.remove(member, State.FREE);
        }
        if (!output.connect(
                member, JoinLayout.controlAddress(datagram, offset), JoinLayout.repairAddress(datagram, offset))) {
            return MemberTable.NONE;
        }
        members.admit(member, id, random.nextInt(), nowNs);
        memberDeadlineNs = Math.min(memberDeadlineNs, nowNs + MEMBER_TICK_NS);
        return member;
    }

    private Verdict onReady(final int member, final MemorySegment datagram, final long offset, final long nowNs) {
        if (!AdmitLayout.isValid(datagram, offset)
                || AdmitLayout.grantSlots(datagram, offset) == 0
                || AdmitLayout.token(datagram, offset) != members.token(member)) {
            return Verdict.IMPOSSIBLE;
        }
        if (members.state(member) == State.ADMITTED) {
            final long first = window.boundaryFrom(next);
            members.activate(
                    member, first, window.frameIdFrom(first), first + AdmitLayout.grantSlots(datagram, offset));
            grantedByAll = members.grantedByAll();
            heartbeats.onUrgent(nowNs);
        }
        sendStart(member);
        return Verdict.GOOD;
    }

    private void sendStart(final int member) {
        ids.receiver(members.id(member));
        output.sendControl(
                member,
                StartLayout.write(
                        output.control(), ids, members.startSequence(member), members.startFrameId(member), checksum));
    }

    private Verdict onAck(final int member, final MemorySegment datagram, final long offset, final long nowNs) {
        if (members.state(member) != State.ACTIVE) {
            return Verdict.UNKNOWN_MEMBER;
        }
        if (!AckLayout.isValid(datagram, offset)) {
            return Verdict.IMPOSSIBLE;
        }
        final long acknowledged = AckLayout.acknowledged(datagram, offset);
        final long grant = AckLayout.grant(datagram, offset);
        // A member may acknowledge the boundary it starts at before that was sent, and nothing else unsent.
        if (acknowledged > Math.max(next, members.startSequence(member)) || grant - acknowledged > Integer.MAX_VALUE) {
            return Verdict.IMPOSSIBLE;
        }
        counts.acks++;
        members.started(member);
        if (ending && (ControlLayout.flags(datagram, offset) & AckLayout.FLAG_COMPLETE) != 0) {
            members.complete(member);
        }
        final long echo = AckLayout.echoTimeNs(datagram, offset);
        if (echo != AckLayout.NO_ECHO && echo >= 0 && echo <= nowNs) {
            members.rtt(member).onSample(nowNs - echo - AckLayout.echoDelayNs(datagram, offset));
        }
        if (members.acknowledge(member, acknowledged, grant)) {
            members.timeoutNs(member, Long.MAX_VALUE);
        }
        grantedByAll = members.grantedByAll();
        return Verdict.GOOD;
    }

    private Verdict onNack(final int member, final MemorySegment datagram, final long offset, final long nowNs) {
        if (members.state(member) != State.ACTIVE) {
            return Verdict.UNKNOWN_MEMBER;
        }
        if (!NackLayout.isValid(datagram, offset)) {
            return Verdict.IMPOSSIBLE;
        }
        counts.nacks++;
        if (nowNs != requestsNs) {
            requestsNs = nowNs;
            requestsLeft = REQUESTS_PER_CYCLE_MAX;
        }
        final long holdOffNs = Math.max(HOLD_OFF_MIN_NS, members.rttNs() / 2);
        final int ranges = NackLayout.ranges(datagram, offset);
        for (int range = 0; range < ranges; range++) {
            // What is freed was acknowledged, what is unsent cannot be missed.
            final long first = Math.max(NackLayout.first(datagram, offset, range), window.freed());
            final long end = Math.min(
                    next, NackLayout.first(datagram, offset, range) + NackLayout.count(datagram, offset, range));
            for (long sequence = first; sequence < end; sequence++) {
                if (requestsLeft-- <= 0) {
                    return Verdict.LIMITED;
                }
                repairs.request(member, sequence, nowNs, holdOffNs);
            }
        }
        return Verdict.GOOD;
    }

    private Verdict onFrameRequest(final int member, final MemorySegment datagram, final long offset) {
        if (members.state(member) != State.ACTIVE || !FrameLayout.isValidRequest(datagram, offset)) {
            return Verdict.IMPOSSIBLE;
        }
        final long first = FrameLayout.firstSequence(datagram, offset);
        if (first < window.freed() || first >= next) {
            return Verdict.IMPOSSIBLE;
        }
        sendMetadata(member, first);
        return Verdict.GOOD;
    }

    private Verdict onLeave(final int member, final MemorySegment datagram, final long offset) {
        if (!LeaveLayout.isValid(datagram, offset)) {
            return Verdict.IMPOSSIBLE;
        }
        // It asked for it, so nothing is left to be told: its place and addresses are free at once.
        output.disconnect(member);
        members.remove(member, State.FREE);
        grantedByAll = members.grantedByAll();
        return Verdict.GOOD;
    }

    private void evict(final int member, final Reason reason) {
        ids.receiver(members.id(member));
        output.sendControl(member, LeaveLayout.writeEvict(output.control(), ids, reason, checksum));
    }

    /// Timers and repairs.
    ///
    /// @return work done
    public int onTick(final long nowNs) {
        int work = 0;
        if (!repairs.isEmpty()) {
            final int repaired = repairs.drain(REPAIRS_PER_TICK_MAX, nowNs, repairOutput);
            work += repaired;
        }
        if (memberDeadlineNs <= nowNs) {
            work += onMembersTick(nowNs);
        }
        if (heartbeats.nextDeadlineNs() <= nowNs) {
            sendHeartbeat(nowNs);
            work++;
        }
        return work;
    }

    // Repairs asked for by a member that is gone are dropped: nobody may be there to take them.
    private int repair(final int member, final long firstSequence, final int count) {
        if (member != RetransmitScheduler.EVERYBODY && members.state(member) != State.ACTIVE) {
            return count;
        }
        final int accepted = output.repair(member, firstSequence, count);
        counts.repairedDatagrams += accepted;
        return accepted;
    }

    private void sendHeartbeat(final long nowNs) {
        final boolean unacknowledged = members.acknowledgedByAll(next) < next;
        final boolean blocked = window.committed() > next || window.isFull();
        int flags = 0;
        if (ending && next == window.committed() && waiting == 0 && !isTorn()) {
            flags |= HeartbeatLayout.FLAG_END_OF_STREAM;
        }
        if (unacknowledged || blocked) {
            flags |= HeartbeatLayout.FLAG_ACK_REQUEST;
        }
        ids.receiver(0);
        final MemorySegment datagram = output.control();
        heartbeat.progress(Math.max(0, next - waiting), window.frameIdFrom(window.boundaryFrom(next)));
        heartbeat.timing(nowNs, members.rttNs(), members.active());
        final int length = HeartbeatLayout.writeInfo(datagram, stream, channel);
        output.multicastControl(HeartbeatLayout.write(datagram, length, flags, heartbeat, checksum));
        counts.heartbeats++;
        heartbeats.onSent(unacknowledged || blocked || ending, nowNs);
    }

    private int onMembersTick(final long nowNs) {
        memberDeadlineNs = Long.MAX_VALUE;
        int work = 0;
        for (int m = 0; m < members.capacity(); m++) {
            if (members.state(m) == State.ACTIVE || members.state(m) == State.ADMITTED) {
                work += onMemberTick(m, nowNs);
                memberDeadlineNs = nowNs + MEMBER_TICK_NS;
            }
        }
        return work;
    }

    private int onMemberTick(final int member, final long nowNs) {
        if (nowNs - members.heardNs(member) > stream.aliveTimeoutNs()) {
            evict(member, Reason.SILENT);
            counts.evictions += members.state(member) == State.ACTIVE ? 1 : 0;
            members.remove(member, State.GONE);
            grantedByAll = members.grantedByAll();
            return 1;
        }
        if (members.state(member) != State.ACTIVE) {
            return 0;
        }
        if (!members.isStarted(member)) {
            sendStart(member);
            return 1;
        }
        return onTimeoutTick(member, nowNs);
    }

    // A full ring is treated like a timeout: the oldest is sent again (seed 004, buffer management), to the
    // laggard only.
    private int onTimeoutTick(final int member, final long nowNs) {
        final long oldest = members.acknowledged(member);
        if (oldest >= next) {
            members.timeoutNs(member, Long.MAX_VALUE);
            return 0;
        }
        if (members.timeoutNs(member) == Long.MAX_VALUE) {
            members.timeoutNs(member, nowNs + timeoutNs(member));
            return 0;
        }
        if (members.timeoutNs(member) > nowNs) {
            return 0;
        }
        members.onTimeout(member);
        members.timeoutNs(member, nowNs + timeoutNs(member));
        counts.timeouts++;
        repairs.request(member, oldest, nowNs, 0);
        heartbeats.onUrgent(nowNs);
        return 1;
    }

    private long timeoutNs(final int member) {
        final long base = Math.max(TIMEOUT_MIN_NS, 2 * members.rtt(member).timeoutNs());
        return Math.min(TIMEOUT_MAX_NS, base << Math.min(TIMEOUT_DOUBLINGS_MAX, members.timeouts(member)));
    }

    /// When [#onTick] has something to do.
    public long nextDeadlineNs() {
        return repairs.isEmpty() ? Math.min(heartbeats.nextDeadlineNs(), memberDeadlineNs) : 0;
    }
}
