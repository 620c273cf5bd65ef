package io.framecast.reliability.send;

import io.framecast.reliability.flow.Standstill;
import io.framecast.reliability.repair.RepairBudget;
import io.framecast.reliability.repair.RequestLimit;
import io.framecast.reliability.repair.RetransmitScheduler;
import io.framecast.reliability.send.Member.State;
import io.framecast.reliability.window.SendWindow;
import io.framecast.reliability.wire.AckLayout;
import io.framecast.reliability.wire.AdmitLayout;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.FormatLayout;
import io.framecast.reliability.wire.FrameLayout;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.HeartbeatLayout;
import io.framecast.reliability.wire.LeaveLayout;
import io.framecast.reliability.wire.LeaveLayout.Reason;
import io.framecast.reliability.wire.NackLayout;
import io.framecast.reliability.wire.PolicyLayout;
import io.framecast.reliability.wire.ResumeLayout;
import io.framecast.reliability.wire.SolicitLayout;
import io.framecast.reliability.wire.StartLayout;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Verdict;
import io.framecast.reliability.wire.VerdictCounts;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// One source's session: its members, the datagrams to send and to repeat, and the slots to free.
///
/// The caller sends `[nextSequence, nextSequence + sendable)` as it can and reports with [#onSent]; feeds control
/// datagrams to [#onControl]; calls [#onTick] at [#nextDeadlineNs]; frees the window up to [#releasable].
///
/// No I/O, clock or thread: one caller, times in nanoseconds since the engine's start.
public final class SenderMachine {
    /// Repairs sent in one tick; the remaining repairs follow in the next tick, so that new data and control are
    /// never starved.
    public static final int REPAIRS_PER_TICK_MAX = 256;

    // The last resort, behind heartbeats and NACKs: a late retransmission costs less than a needless one.
    private static final long TIMEOUT_MIN_NS = 100_000_000;
    private static final long MEMBER_TICK_NS = 20_000_000;
    private static final long MEMBER_TICK_IDLE_NS = 250_000_000;
    private static final long TIMEOUT_MAX_NS = 1_000_000_000;
    private static final long HOLD_OFF_MIN_NS = 200_000;
    private static final int TIMEOUT_DOUBLINGS_MAX = 6;
    private static final int READER_TIMEOUTS_MAX = 3;
    private static final long TRAIL_INTERVAL_NS = 1_000_000;

    private final StreamInfo stream;
    private final SendWindow window;
    private final MemberGate output;
    private final MemberTable members;
    private final RetransmitScheduler repairs;
    private final Heartbeats heartbeats;
    private final Standstill standstill;
    private final Admissions admissions;
    private final CoRoots coRoots;
    private final CreditWords words;
    private final FormatAnnouncements formats;
    private final FreedRequests freedRequests;
    private final HeaderChecksum checksum = new HeaderChecksum();
    private final ControlWriter ids;
    private final RetransmitScheduler.Output repairOutput = this::repair;
    private final VerdictCounts verdicts = new VerdictCounts();
    private final ArrayDeque<Eviction> evictions = new ArrayDeque<>();
    private final Counts<SenderCount> counts = new Counts<>(SenderCount.class);

    private final RequestLimit requests = new RequestLimit();

    private long next;
    private long granted = Long.MAX_VALUE;
    private boolean claimBlocked;
    private boolean ending;
    private long trailNs;
    private long membersNs;
    private boolean stuck;
    private long memberDeadlineNs = Long.MAX_VALUE;
    // At the last check every member had everything, and only silence could change that.
    private boolean quiet;
    private long cycleNs;

    /// Makes a sender over the window that its publisher fills.
    ///
    /// @param random for probe tokens, and for values that no host may guess
    public SenderMachine(
            final SenderConfig config,
            final SendWindow window,
            final RandomGenerator random,
            final SenderOutput output) {
        stream = config.stream();
        this.window = window;
        members = new MemberTable(config.membersMax());
        this.output = new MemberGate(members, output);
        repairs = new RetransmitScheduler(window);
        standstill = new Standstill(stream.aliveTimeoutNs());
        ids = new ControlWriter(stream.session());
        heartbeats = new Heartbeats(config, window, members, this.output, counts, ids);
        coRoots = new CoRoots(config, members, this.output, counts, ids);
        words = new CreditWords(config, members, random, this.output, counts, ids);
        formats = new FormatAnnouncements(window.formats(), members, this.output, counts, ids);
        freedRequests = new FreedRequests(config.membersMax());
        admissions = new Admissions(stream, members, this.output, random, coRoots, words, ids);
    }

    public StreamInfo stream() {
        return stream;
    }

    public VerdictCounts verdicts() {
        return verdicts;
    }

    public Counts<SenderCount> counts() {
        return counts;
    }

    public int readyMembers() {
        return members.active();
    }

    /// Subscribers behind the members that are ready: each stands for one or more.
    public int readySubscribers() {
        return members.subscribers();
    }

    /// Receivers that asked to join and are no members.
    public JoinAttempts joinAttempts() {
        return admissions.attempts();
    }

    /// The source's knowledge of the member at a place, 0 … [#membersMax] − 1.
    public MemberStatus member(final int place) {
        return members.of(place);
    }

    public int membersMax() {
        return members.capacity();
    }

    /// The next member that was evicted, oldest first; null when there is none. Beyond [#membersMax]
    /// the oldest are forgotten, so poll in each cycle.
    public @Nullable Eviction pollEviction() {
        return evictions.poll();
    }

    public long nextSequence() {
        return next;
    }

    public long grantedSequence() {
        return granted;
    }

    public long rttNs() {
        return members.rttNs();
    }

    /// Datagrams that are committed and covered by the credit of all members that the source waits for.
    public int sendable() {
        return (int) Math.max(0, Math.min(window.committed(), granted) - next);
    }

    /// Whether credit exceeds the committed datagrams: then an open bundle is sent as it is.
    public boolean canFlushBundle() {
        return next == window.committed() && granted > next;
    }

    /// Whether the next datagrams must be sealed before they are sent, for members that read the window and are
    /// not waited for, or for replicas.
    public boolean isGuarded() {
        return words.isGuarded() || coRoots.feeds().isAny();
    }

    /// Sends formats that are new; call before sending datagrams.
    public void announceFormats() {
        if (formats.look(window.committed(), cycleNs) && members.active() > 0) {
            memberDeadlineNs = Math.min(memberDeadlineNs, cycleNs + MEMBER_TICK_NS);
            quiet = false;
        }
        formats.announce();
    }

    /// Sends the metadata of frames that begin in the next `count` datagrams; call before [#onSent].
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
        final int bytes = FrameLayout.write(ids.in(output.control()), sequence, metadata);
        if (member == RetransmitScheduler.EVERYBODY) {
            output.multicastControl(bytes);
        } else {
            output.sendControl(member, bytes);
        }
    }

    /// The next `count` datagrams have no receiver: they are not sent.
    public void onUnheard(final int count) {
        for (int i = 0; i < count; i++) {
            repairs.onSent(next + i);
        }
        next += count;
        coRoots.feeds().push(next);
    }

    /// The caller sent the next `count` datagrams.
    public void onSent(final int count, final long nowNs) {
        onUnheard(count);
        counts.add(SenderCount.SENT_DATAGRAMS, count);
        heartbeats.onDataSent(nowNs);
        if (memberDeadlineNs == Long.MAX_VALUE || quiet) {
            memberDeadlineNs = Math.min(memberDeadlineNs, nowNs + MEMBER_TICK_NS);
            quiet = false;
        }
    }

    /// Datagrams that may be sent wait until a time.
    public void onHeld(final long untilNs, final long nowNs) {
        heartbeats.onDataDue(untilNs, nowNs);
    }

    /// The last `count` sent datagrams, probes among them, wait in the transport. Heartbeats do not announce them
    /// yet, because a heartbeat that overtook them would make a receiver miss datagrams that were never sent.
    public void onWaiting(final long count, final long nowNs) {
        heartbeats.onWaiting(next, count, nowNs);
    }

    /// Slots below may be freed: all members that the source waits for have acknowledged them, and replicas have
    /// been given them. The source keeps datagrams that other members lack as long as half the window is free,
    /// with room for one more frame of any length, and a number for its format.
    public long releasable() {
        final long waitedFor = members.acknowledgedByWaitedFor(next);
        if (window.isFormatBlocked()) {
            return Math.min(coRoots.feeds().written(), waitedFor);
        }
        final long others = members.acknowledgedByOthers(next);
        final long room = Math.max(stream.frameMaxSlots(), window.slots() / 2);
        final long wanted = window.committed() + room - (window.slots() - 1);
        return Math.min(coRoots.feeds().written(), Math.min(waitedFor, Math.max(others, wanted)));
    }

    /// Whether a window that is not full has no room for the frame to be committed next.
    public void onClaimBlocked(final boolean room) {
        // Once all is free there is a number for its format, whether the publisher knows it or not.
        claimBlocked = room || (window.isFormatBlocked() && window.freed() < window.committed());
    }

    /// No more frames will be committed. Heartbeats announce the end once everything is sent, unless the stream
    /// ends within a frame.
    public void end(final long nowNs) {
        ending = true;
        heartbeats.onUrgent(nowNs);
    }

    /// Whether every member has acknowledged everything committed. After [#end], every member must also know the
    /// end, so that it does not take the source's silence for a loss. False for a stream that ends within a
    /// frame, which has no valid end.
    public boolean isDrained() {
        return isAcknowledged() && (!ending || (!endsMidFrame() && members.isCompleteForAll()));
    }

    /// Whether waiting cannot bring anything more: the stream is drained, or it ends within a frame of which
    /// every member has all datagrams. [#close] then notifies the members.
    public boolean isSettled() {
        return isDrained() || (ending && endsMidFrame() && isAcknowledged());
    }

    private boolean isAcknowledged() {
        return next == window.committed() && members.areServed(next, window.freed());
    }

    // All is sent, and nothing follows.
    private boolean announcesEnd() {
        return ending && next == window.committed() && !heartbeats.isWaiting() && !endsMidFrame();
    }

    // The committed datagrams end within a frame.
    private boolean endsMidFrame() {
        return window.boundaryFrom(next) != next;
    }

    /// Announces the end of the session to all members, without waiting. Behind the end of the stream it
    /// announces that once more: a member that has everything but missed the end would take its source for lost.
    public void close() {
        if (announcesEnd()) {
            sendHeartbeat(cycleNs);
        }
        ids.receiver(0);
        output.multicastControl(LeaveLayout.writeEvict(ids.in(output.control()), Reason.CLOSED));
    }

    /// A datagram of the control lane.
    public Verdict onControl(final MemorySegment datagram, final long offset, final int bytes, final long nowNs) {
        final Verdict common = ControlLayout.check(datagram, offset, bytes, checksum);
        if (common != Verdict.GOOD) {
            return verdicts.count(common);
        }
        final int type = ControlLayout.type(datagram, offset);
        final long session = ControlLayout.SESSION.get(datagram, offset);
        if (session != stream.session() && (session != 0 || type != ControlLayout.TYPE_SOLICIT)) {
            return verdicts.count(Verdict.WRONG_SESSION);
        }
        if (type == ControlLayout.TYPE_SOLICIT) {
            return verdicts.count(onSolicit(datagram, offset, nowNs));
        }
        if (type == ControlLayout.TYPE_JOIN) {
            memberDeadlineNs = Math.min(memberDeadlineNs, nowNs + MEMBER_TICK_NS);
            return verdicts.count(admissions.onJoin(datagram, offset, nowNs));
        }
        if (type == ControlLayout.TYPE_RESUME) {
            return verdicts.count(onResume(datagram, offset, nowNs));
        }
        final int member = members.find(ControlLayout.RECEIVER.get(datagram, offset));
        if (member == MemberTable.NONE) {
            admissions.onStranger(ControlLayout.RECEIVER.get(datagram, offset), type, nowNs);
            return verdicts.count(Verdict.UNKNOWN_MEMBER);
        }
        return verdicts.count(dispatch(type, member, datagram, offset, nowNs));
    }

    private Verdict dispatch(
            final int type, final int member, final MemorySegment datagram, final long offset, final long nowNs) {
        if (members.of(member).state == State.GONE) {
            admissions.evictAgain(member, members.of(member).reason, nowNs);
            return Verdict.UNKNOWN_MEMBER;
        }
        if (members.of(member).proven) {
            members.of(member).heardNs = nowNs;
        } else if (members.of(member).isActive()
                && type != ControlLayout.TYPE_READY
                && type != ControlLayout.TYPE_LEAVE) {
            // Nothing but the proof keeps a membership that moved.
            return Verdict.EARLY;
        }
        return switch (type) {
            case ControlLayout.TYPE_READY -> onReady(member, datagram, offset, nowNs);
            case ControlLayout.TYPE_ACK -> onAck(member, datagram, offset, nowNs);
            case ControlLayout.TYPE_NACK -> onNack(member, datagram, offset, nowNs);
            case ControlLayout.TYPE_FRAME_REQUEST -> onFrameRequest(member, datagram, offset, nowNs);
            case ControlLayout.TYPE_FORMAT_ACK -> onFormatAck(member, datagram, offset, nowNs);
            case ControlLayout.TYPE_LEAVE -> onLeave(member, datagram, offset, nowNs);
            case ControlLayout.TYPE_RC_CONNECT -> onCopy(member, datagram, offset);
            case ControlLayout.TYPE_POLICY -> onPolicy(member, datagram, offset);
            default -> Verdict.BAD_TYPE;
        };
    }

    private Verdict onReady(final int member, final MemorySegment datagram, final long offset, final long nowNs) {
        if (!AdmitLayout.isValid(datagram, offset)
                || AdmitLayout.GRANT_SLOTS.get(datagram, offset) == 0
                || AdmitLayout.TOKEN.get(datagram, offset) != members.of(member).token
                || AdmitLayout.VALUE.get(datagram, offset) != members.of(member).value) {
            return Verdict.IMPOSSIBLE;
        }
        members.of(member).heardNs = nowNs;
        if (members.of(member).state == State.ADMITTED) {
            // Of frames that were skipped without members too: later frames may have their formats.
            announceFormats();
            final long first = window.boundaryFrom(next);
            admissions.settled(member);
            members.activate(
                    member, first, window.frameIdFrom(first), first + AdmitLayout.GRANT_SLOTS.get(datagram, offset));
            freedRequests.forget(member);
            granted = members.granted();
            members.of(member).budget.begin(window.slots(), next, nowNs);
            heartbeats.onUrgent(nowNs);
            words.onActivated(member, nowNs);
            sendStart(member);
            formats.onActivated(member, nowNs);
            return Verdict.GOOD;
        }
        final boolean isMoved = !members.of(member).proven;
        members.of(member).proven = true;
        sendStart(member);
        if (isMoved) {
            words.onActivated(member, nowNs);
            formats.onActivated(member, nowNs);
        }
        return Verdict.GOOD;
    }

    private Verdict onFormatAck(final int member, final MemorySegment datagram, final long offset, final long nowNs) {
        if (members.of(member).state != State.ACTIVE) {
            return Verdict.UNKNOWN_MEMBER;
        }
        return FormatLayout.isRequest(datagram, offset) && !mayRepair(member, nowNs)
                ? Verdict.LIMITED
                : formats.onAck(member, datagram, offset);
    }

    // A member gets an answer of its own.
    private Verdict onSolicit(final MemorySegment datagram, final long offset, final long nowNs) {
        if (!SolicitLayout.isValid(datagram, offset)) {
            return Verdict.IMPOSSIBLE;
        }
        counts.add(SenderCount.SOLICITS);
        final int member = members.find(ControlLayout.RECEIVER.get(datagram, offset));
        if (member != MemberTable.NONE && members.of(member).state == State.GONE) {
            admissions.evictAgain(member, members.of(member).reason, nowNs);
            return Verdict.UNKNOWN_MEMBER;
        }
        if (member != MemberTable.NONE && members.of(member).isActive() && members.of(member).proven) {
            members.of(member).heardNs = nowNs;
            heartbeats.answer(member, SolicitLayout.CLOCK.get(datagram, offset), next, nowNs);
        } else {
            heartbeats.onSolicit(nowNs);
        }
        return Verdict.GOOD;
    }

    private Verdict onPolicy(final int member, final MemorySegment datagram, final long offset) {
        if (members.of(member).state != State.ACTIVE || !PolicyLayout.isValid(datagram, offset)) {
            return Verdict.IMPOSSIBLE;
        }
        final Member place = members.of(member);
        final int version = PolicyLayout.VERSION.get(datagram, offset);
        final Delivery wanted = PolicyLayout.delivery(datagram, offset);
        // The source would wait for ever for a member that lacks freed datagrams.
        final boolean possible = !wanted.isWaitedFor() || place.isWaitedFor() || place.acknowledged >= window.freed();
        if (version > place.policyVersion && possible) {
            place.policyVersion = version;
            place.subscribers = PolicyLayout.SUBSCRIBERS.get(datagram, offset);
            place.terms = place.terms.withDelivery(wanted);
            place.heldBackNs = 0;
            words.onPolicy(member);
            coRoots.onPolicy(member);
            granted = members.granted();
        }
        ids.receiver(place.id);
        output.sendControl(
                member,
                PolicyLayout.write(
                        ids.in(output.control()), place.policyVersion, place.terms.delivery(), place.subscribers));
        return Verdict.GOOD;
    }

    private Verdict onResume(final MemorySegment datagram, final long offset, final long nowNs) {
        if (!ResumeLayout.isValid(datagram, offset)) {
            return Verdict.IMPOSSIBLE;
        }
        final int member = admissions.resumed(datagram, offset);
        if (member == MemberTable.NONE) {
            admissions.onStranger(ControlLayout.RECEIVER.get(datagram, offset), ControlLayout.TYPE_RESUME, nowNs);
            return Verdict.UNKNOWN_MEMBER;
        }
        final Verdict verdict = admissions.onResume(member, datagram, offset, nowNs);
        granted = members.granted();
        if (verdict == Verdict.GOOD) {
            freedRequests.forget(member);
        }
        if (verdict == Verdict.GOOD && members.of(member).proven) {
            members.of(member).heardNs = nowNs;
            sendStart(member);
            formats.onActivated(member, nowNs);
        }
        return verdict;
    }

    private void sendStart(final int member) {
        ids.receiver(members.of(member).id);
        output.sendControl(
                member,
                StartLayout.write(
                        ids.in(output.control()),
                        members.of(member).startSequence,
                        members.of(member).startFrameId,
                        formats.newest()));
    }

    private Verdict onAck(final int member, final MemorySegment datagram, final long offset, final long nowNs) {
        if (members.of(member).state != State.ACTIVE) {
            return Verdict.UNKNOWN_MEMBER;
        }
        if (!AckLayout.isValid(datagram, offset)) {
            return Verdict.IMPOSSIBLE;
        }
        final Verdict verdict = acknowledge(member, datagram, offset, nowNs);
        counts.add(SenderCount.ACKS, verdict == Verdict.GOOD ? 1 : 0);
        return verdict;
    }

    // From an ACK or a NACK.
    private Verdict acknowledge(final int member, final MemorySegment datagram, final long offset, final long nowNs) {
        final long acknowledged = AckLayout.ACKNOWLEDGED.get(datagram, offset);
        final long grant = AckLayout.GRANT.get(datagram, offset);
        // A member may acknowledge its start before the source reached it, and the end of a frame that it dropped.
        // It acknowledges nothing else unsent.
        final boolean waitedFor = members.of(member).terms.delivery().isWaitedFor();
        final long ahead = waitedFor ? 0 : stream.frameMaxSlots();
        if (acknowledged > Math.max(next + ahead, members.of(member).startSequence)
                || grant - acknowledged > Integer.MAX_VALUE) {
            return Verdict.IMPOSSIBLE;
        }
        members.of(member).started = true;
        final boolean complete = ending && AckLayout.isComplete(datagram, offset);
        if (complete) {
            members.of(member).complete = true;
        }
        final long echo = AckLayout.ECHO_TIME.get(datagram, offset);
        // Any host may have sent a heartbeat again to it that is older than its membership.
        if (echo != AckLayout.NO_ECHO && echo >= members.of(member).admittedNs && echo <= nowNs) {
            members.of(member).rtt.onSample(nowNs - echo - AckLayout.ECHO_DELAY.unsigned(datagram, offset));
        }
        counts.add(SenderCount.CREDIT_DATAGRAMS, grant > members.of(member).grant ? 1 : 0);
        final boolean alone = !AckLayout.isAggregate(datagram, offset);
        freedRequests.onAcknowledged(member, acknowledged, echo <= nowNs ? echo : AckLayout.NO_ECHO, alone);
        final boolean moved = members.acknowledge(member, acknowledged, grant);
        if (moved) {
            members.of(member).timeoutNs = Long.MAX_VALUE;
            coRoots.onAdvanced(member, nowNs);
        }
        coRoots.onAck(member, datagram, offset, complete);
        granted = members.granted();
        return Verdict.GOOD;
    }

    /// A member's word in the status vector has changed.
    public void onWord(final int member, final long word) {
        if (words.onWord(member, word, next)) {
            granted = members.granted();
        }
    }

    // A co-root announces its replica, if the source may write there.
    private Verdict onCopy(final int member, final MemorySegment datagram, final long offset) {
        return words.isLinked(member) ? coRoots.onCopy(member, datagram, offset, next) : Verdict.EARLY;
    }

    /// Writes have completed: there may be room for more.
    public void onWritten() {
        coRoots.feeds().push(next);
    }

    private Verdict onNack(final int member, final MemorySegment datagram, final long offset, final long nowNs) {
        if (members.of(member).state != State.ACTIVE) {
            return Verdict.UNKNOWN_MEMBER;
        }
        if (!NackLayout.isValid(datagram, offset)) {
            return Verdict.IMPOSSIBLE;
        }
        if (NackLayout.acknowledges(datagram, offset)) {
            final Verdict verdict = acknowledge(member, datagram, offset, nowNs);
            if (verdict != Verdict.GOOD) {
                return verdict;
            }
        }
        counts.add(SenderCount.NACKS);
        requests.onRequest(nowNs);
        final long holdOffNs = Math.max(HOLD_OFF_MIN_NS, members.rttNs() / 2);
        final RepairBudget budget = members.of(member).budget;
        budget.refill(next, nowNs);
        final int ranges = NackLayout.ranges(datagram, offset);
        for (int range = 0; range < ranges; range++) {
            // Freed sequences were acknowledged, or are no longer held; unsent sequences cannot be missing.
            final long first = Math.max(NackLayout.first(datagram, offset, range), window.freed());
            if (first > NackLayout.first(datagram, offset, range) && !mayStillBeServed(member, nowNs)) {
                return Verdict.UNKNOWN_MEMBER;
            }
            final long end = Math.min(
                    next, NackLayout.first(datagram, offset, range) + NackLayout.count(datagram, offset, range));
            for (long sequence = first; sequence < end; sequence++) {
                if (!requests.take()) {
                    return Verdict.LIMITED;
                }
                if (budget.isUsedUp()) {
                    counts.add(SenderCount.LIMITED_REPAIRS, end - sequence);
                    return Verdict.LIMITED;
                }
                if (repairs.request(member, sequence, nowNs, holdOffNs)) {
                    budget.take();
                }
                members.of(member).requested++;
            }
        }
        return Verdict.GOOD;
    }

    // A member requests datagrams that the source has freed. A member that the source does not wait for learns that
    // from the next heartbeat, and drops those frames. A member that the source waits for would wait for ever, and is
    // evicted.
    private boolean mayStillBeServed(final int member, final long nowNs) {
        if (members.of(member).isWaitedFor()) {
            if (!freedRequests.onRequest(member, window.freed(), nowNs)) {
                return true;
            }
            evictAs(member, Reason.UNREPAIRABLE, nowNs);
            memberDeadlineNs = Math.min(memberDeadlineNs, nowNs);
            return false;
        }
        if (nowNs >= trailNs) {
            trailNs = nowNs + TRAIL_INTERVAL_NS;
            heartbeats.onUrgent(nowNs);
        }
        return true;
    }

    private Verdict onFrameRequest(
            final int member, final MemorySegment datagram, final long offset, final long nowNs) {
        if (members.of(member).state != State.ACTIVE || !FrameLayout.isValidRequest(datagram, offset)) {
            return Verdict.IMPOSSIBLE;
        }
        counts.add(SenderCount.FRAME_REQUESTS);
        final long first = FrameLayout.FIRST_SEQUENCE.get(datagram, offset);
        if (first < window.freed() || first >= next) {
            return first >= next || mayStillBeServed(member, nowNs) ? Verdict.IMPOSSIBLE : Verdict.UNKNOWN_MEMBER;
        }
        if (!mayRepair(member, nowNs)) {
            return Verdict.LIMITED;
        }
        sendMetadata(member, first);
        return Verdict.GOOD;
    }

    // Metadata and formats are much longer than their requests.
    private boolean mayRepair(final int member, final long nowNs) {
        final RepairBudget budget = members.of(member).budget;
        budget.refill(next, nowNs);
        final boolean may = budget.take();
        counts.add(SenderCount.LIMITED_REPAIRS, may ? 0 : 1);
        return may;
    }

    private Verdict onLeave(final int member, final MemorySegment datagram, final long offset, final long nowNs) {
        if (!LeaveLayout.isValid(datagram, offset)) {
            return Verdict.IMPOSSIBLE;
        }
        // The member asked to leave, so no notice is due: its place and addresses are free at once.
        words.onGone(member);
        output.disconnect(member);
        members.remove(member, State.FREE);
        coRoots.onGone(member);
        granted = members.granted();
        // Its co-root is instructed at once: until the co-root knows, its replica is not written.
        memberDeadlineNs = Math.min(memberDeadlineNs, nowNs);
        return Verdict.GOOD;
    }

    /// A duty cycle begins; call once in each, before [#onTick]. A long gap between two cycles means that this
    /// process stood still: it then asks its members before it takes one for lost.
    ///
    /// @return how long the process stood still, in nanoseconds; 0 otherwise, or without members
    public long onCycle(final long nowNs) {
        cycleNs = nowNs;
        final long stoodNs = standstill.onCycle(nowNs);
        if (stoodNs == 0 || memberDeadlineNs == Long.MAX_VALUE) {
            return 0;
        }
        members.excuse(Standstill.askedNs(stream.aliveTimeoutNs(), nowNs));
        coRoots.onStandstill(nowNs);
        heartbeats.onUrgent(nowNs);
        return stoodNs;
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
        final boolean beats = heartbeats.nextDeadlineNs() <= nowNs;
        // In the same wake-up where nothing else happens.
        if (memberDeadlineNs <= nowNs || (quiet && beats)) {
            work += onMembersTick(nowNs);
        }
        if (beats) {
            sendHeartbeat(nowNs);
            work++;
        }
        return work;
    }

    // Repairs for a member that is gone are dropped, because its address may have no receiver any more.
    private int repair(final int member, final long firstSequence, final int count) {
        if (member != RetransmitScheduler.EVERYBODY
                && (members.of(member).state != State.ACTIVE || !members.of(member).proven)) {
            return count;
        }
        final int accepted = output.repair(member, firstSequence, count);
        counts.add(SenderCount.REPAIRED_DATAGRAMS, accepted);
        return accepted;
    }

    private void sendHeartbeat(final long nowNs) {
        int flags = announcesEnd() ? HeartbeatLayout.FLAG_END_OF_STREAM : 0;
        if (coRoots.takeDirectRequest()) {
            flags |= HeartbeatLayout.FLAG_DIRECT | HeartbeatLayout.FLAG_ACK_REQUEST;
        }
        heartbeats.send(flags, next, ending, nowNs);
    }

    /// Sends a heartbeat at once, as where a new epoch of keys begins.
    public void announce(final long nowNs) {
        sendHeartbeat(nowNs);
    }

    /// Behind the last datagram that heartbeats say was sent: the transport holds none of them any more. It never
    /// goes back, although probes wait where data do: receivers take an epoch's end from it.
    public long announced() {
        return heartbeats.announced(next);
    }

    private int onMembersTick(final long nowNs) {
        memberDeadlineNs = Long.MAX_VALUE;
        int work = 0;
        final long sinceNs = Math.min(nowNs - membersNs, 2 * MEMBER_TICK_NS);
        membersNs = nowNs;
        announceFormats();
        final boolean blocked = isBlocked();
        quiet = !blocked && !coRoots.isEnabled() && members.acknowledgedByAll(next) == next;
        for (int m = 0; m < members.capacity(); m++) {
            if (members.of(m).state == State.ACTIVE || members.of(m).state == State.ADMITTED) {
                final boolean holdsBack = blocked && isHeldBackBy(m);
                work += members.isTooSlow(m, holdsBack, sinceNs)
                        ? evictAs(m, Reason.SLOW, nowNs)
                        : onMemberTick(m, nowNs);
                quiet &= members.of(m).state == State.ACTIVE
                        && members.of(m).started
                        && members.of(m).formats.unknown == 0
                        && words.isIdle(m);
                memberDeadlineNs = nowNs + MEMBER_TICK_NS;
            }
        }
        if (quiet && memberDeadlineNs != Long.MAX_VALUE) {
            memberDeadlineNs = nowNs + memberTickMaxNs(stream.aliveTimeoutNs());
        }
        passOn(blocked);
        return work + coRoots.onTick(next, blocked, nowNs);
    }

    // A committed datagram must wait for credit, or the window has no room for more.
    private boolean isBlocked() {
        return next < window.committed() ? granted <= next : window.isFull() || claimBlocked;
    }

    private boolean isHeldBackBy(final int member) {
        return members.of(member).state == State.ACTIVE
                && (next < window.committed()
                        ? members.of(member).grant <= next
                        : members.of(member).acknowledged <= window.freed());
    }

    // Where the source waits for no member and all members are stuck, the stream goes on, a window in each tick.
    private void passOn(final boolean blocked) {
        if (blocked && stuck && !members.isAnyWaitedFor()) {
            granted = Math.max(granted, next + window.slots());
        }
        stuck = blocked;
    }

    private int evictAs(final int member, final Reason reason, final long nowNs) {
        // Before its slots can be reused: the member must read the datagrams that were sent.
        words.onGone(member);
        members.of(member).reason = reason;
        admissions.evict(member, reason);
        if (members.of(member).isActive()) {
            counts.add(SenderCount.EVICTIONS);
            keepEviction(members.of(member), nowNs);
        }
        members.remove(member, State.GONE);
        coRoots.onGone(member);
        granted = members.granted();
        return 1;
    }

    private void keepEviction(final Member member, final long nowNs) {
        if (evictions.size() == members.capacity()) {
            evictions.remove();
        }
        evictions.add(new Eviction(
                member.id,
                member.terms.addresses(),
                member.terms.delivery(),
                member.reason,
                Math.max(0, next - member.acknowledged),
                nowNs - member.heardNs));
    }

    private int onMemberTick(final int member, final long nowNs) {
        if (nowNs - members.of(member).heardNs > stream.aliveTimeoutNs()) {
            return evictAs(member, Reason.SILENT, nowNs);
        }
        if (members.of(member).state != State.ACTIVE || !members.of(member).proven) {
            return 0;
        }
        if (!members.of(member).started) {
            sendStart(member);
            return 1;
        }
        return formats.onTick(member, nowNs) + words.onTick(member, nowNs) + onTimeoutTick(member, nowNs);
    }

    // A full ring is treated like a timeout: the source repeats the oldest datagram (Subramoni, buffer management),
    // to the slowest member only.
    private int onTimeoutTick(final int member, final long nowNs) {
        final long oldest = members.of(member).acknowledged;
        if (oldest >= next || coRoots.isOfASet(member)) {
            members.of(member).timeoutNs = Long.MAX_VALUE;
            return 0;
        }
        if (members.of(member).timeoutNs == Long.MAX_VALUE) {
            members.of(member).timeoutNs = nowNs + timeoutNs(member);
            return 0;
        }
        if (members.of(member).timeoutNs > nowNs) {
            return 0;
        }
        members.of(member).timeouts++;
        members.of(member).timeoutNs = nowNs + timeoutNs(member);
        counts.add(SenderCount.TIMEOUTS);
        // A member that reads repairs itself at first needs only the source's progress.
        if (!words.isLive(member) || members.of(member).timeouts > READER_TIMEOUTS_MAX) {
            repairs.request(member, oldest, nowNs, 0);
        }
        heartbeats.onUrgent(nowNs);
        return 1;
    }

    private long timeoutNs(final int member) {
        final long base = Math.max(TIMEOUT_MIN_NS, 2 * members.of(member).rtt.timeoutNs());
        return Math.min(TIMEOUT_MAX_NS, base << Math.min(TIMEOUT_DOUBLINGS_MAX, members.of(member).timeouts));
    }

    /// The longest time between two checks of the members' silence: as long as no datagram is sent and every
    /// member has everything, a check each 20 ms would keep an idle process busy.
    public static long memberTickMaxNs(final long aliveTimeoutNs) {
        return Math.clamp(aliveTimeoutNs / 20, MEMBER_TICK_NS, MEMBER_TICK_IDLE_NS);
    }

    /// The time at which [#onTick] has something to do.
    public long nextDeadlineNs() {
        return repairs.isEmpty() ? Math.min(heartbeats.nextDeadlineNs(), memberDeadlineNs) : 0;
    }
}
