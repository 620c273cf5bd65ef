package io.framecast.reliability.receive;

import io.framecast.reliability.flow.AckScheduler;
import io.framecast.reliability.flow.AckTrigger;
import io.framecast.reliability.flow.ClockOffset;
import io.framecast.reliability.flow.Standstill;
import io.framecast.reliability.repair.NackScheduler;
import io.framecast.reliability.repair.RepairRequests;
import io.framecast.reliability.window.FrameTable;
import io.framecast.reliability.window.ReceiveWindow;
import io.framecast.reliability.window.RepairStore;
import io.framecast.reliability.wire.AdmitLayout;
import io.framecast.reliability.wire.BundleLayout;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.FormatLayout;
import io.framecast.reliability.wire.FrameLayout;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.HeaderRun;
import io.framecast.reliability.wire.HeartbeatLayout;
import io.framecast.reliability.wire.LeaveLayout;
import io.framecast.reliability.wire.LeaveLayout.Reason;
import io.framecast.reliability.wire.RcConnectLayout;
import io.framecast.reliability.wire.SolicitLayout;
import io.framecast.reliability.wire.StartLayout;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Verdict;
import io.framecast.reliability.wire.VerdictCounts;
import java.lang.foreign.MemorySegment;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// One receiver of one session: join handshake, received datagrams, NACK, ACK, credit, whole frames in order.
///
/// Inputs are the `on…` methods; the caller calls [#onTick] at [#nextDeadlineNs] and takes whole frames with
/// [#pollFrame]; outputs go to [ReceiverOutput]. The machine never touches payload. After `onData` or `onRepair`
/// answered GOOD and [#acceptedSequence] is not negative, the caller places that payload before it polls frames.
///
/// No I/O, clock or thread: one caller, times in nanoseconds since the engine's start.
public final class ReceiverMachine {
    /// The stage of the session.
    public enum State {
        /// JOIN sent, no ADMIT yet.
        JOINING,
        /// Admitted; the full-size probe has not arrived.
        PROBING,
        /// Probe arrived, READY sent, no START yet.
        STARTING,
        RECEIVING,
        /// Every frame up to the source's last was polled.
        ENDED,
        /// The source fell silent, evicted this receiver, or freed datagrams that this receiver lacks. Frames
        /// that are whole can still be polled.
        LOST,
        /// The source refused the join, or the probe never arrived.
        REFUSED
    }

    /// A datagram without a place: a probe.
    public static final long NO_SEQUENCE = -1;

    private final ReceiverConfig config;
    private final StreamInfo stream;
    private final ReceiverOutput output;
    private final ReceiveWindow window;
    private final FrameTable frames;
    private final NackScheduler nacks;
    private final HeaderChecksum checksum = new HeaderChecksum();
    private final HeaderCheck headers;
    private final ControlWriter ids;
    private final VerdictCounts verdicts = new VerdictCounts();
    private final Counts<ReceiverCount> counts = new Counts<>(ReceiverCount.class);
    private final boolean mayKeep;
    private final Handshake handshake;
    private final FrameQueue queue;
    private final RepairStrategy repairs;
    private final ReceiveLedger ledger;
    private final Reporting reporting;
    private final PolicyReport policy;
    private final StreamEnd streamEnd = new StreamEnd();
    private final SourceWatch source;
    private final ClockOffset clock;
    private final Standstill standstill;
    // Null for a receiver that its source waits for.
    private @Nullable DropPolicy drops;

    private State state = State.JOINING;
    private Reason lostReason = Reason.SILENT;
    private long acceptedSequence = NO_SEQUENCE;
    private @Nullable Checkpoint resumed;
    // Frames that had begun when the source sent a heartbeat.
    private long announcedFrames;

    /// Makes a receiver; [#start] begins the handshake.
    ///
    /// @param random for back-off and skew only
    /// @param serving effects of its work as a co-root; null for a receiver that does not serve
    public ReceiverMachine(
            final ReceiverConfig config,
            final RandomGenerator random,
            final ReceiverOutput output,
            final @Nullable CoRootOutput serving) {
        this.config = config;
        this.output = output;
        stream = config.stream();
        source = new SourceWatch(stream.aliveTimeoutNs());
        clock = new ClockOffset(config.clockOffsetNs());
        standstill = new Standstill(source.silenceNs());
        headers = new HeaderCheck(stream);
        ids = new ControlWriter(stream.session()).receiver(config.receiverId());
        final boolean fedOnly = serving != null && serving.filler() == CoRootOutput.Filler.SOURCE;
        mayKeep = serving != null && !fedOnly;
        handshake = new Handshake(config, ids, output, serving != null, fedOnly);
        window = new ReceiveWindow(config.ringSlots());
        frames = new FrameTable(window.capacity());
        queue = new FrameQueue(frames, window, stream.slotBytes());
        drops = DropPolicy.of(config.delivery(), stream, queue);
        nacks = new NackScheduler(window, config.reorderDatagrams(), random);
        ledger = new ReceiveLedger(config, queue, streamEnd);
        final AckScheduler acks = new AckScheduler(config.firstGrantSlots(), random.nextDouble(), source.ackIdleNs());
        reporting = new Reporting(ids, serving, output, counts, source, acks, ledger);
        policy = new PolicyReport(ids, output, config.delivery());
        repairs = new RepairStrategy(output, reporting, ids, counts);
    }

    public void start(final long nowNs) {
        source.onHeard(nowNs);
        handshake.send(state, nowNs);
    }

    /// Goes on with the membership of another receiver, instead of [#start], and sends RESUME to the source.
    /// Until the source answers with START, the machine sends only READY behind its ADMIT, and the caller polls
    /// no data. The log comes first: the next successor goes on from there, whether or not the source hears this
    /// receiver. Where the log knows of another successor, this receiver is LOST, and sends nothing.
    public void resume(final Checkpoint from, final long nowNs) {
        source.onHeard(nowNs);
        state = State.STARTING;
        resumed = from;
        queue.expect(from.frameId);
        policy.onResumed();
        if (ledger.adopt(from)) {
            handshake.resume(from, nowNs);
        } else {
            giveUp(State.LOST, Reason.UNKNOWN);
        }
    }

    /// Before the receiver is a member: keeps the state that a successor needs. From then on it drops only frames
    /// that cannot become whole in time. The subscribers that read the other frames drop them.
    public void log(final CheckpointLog log) {
        ledger.log(log);
        if (drops != null) {
            drops.shareWith(config.delivery());
        }
    }

    /// While it is a member with a log: reports to the source how many subscribers it stands for.
    ///
    /// @param strongest of their policies
    public void standFor(final int subscribers, final Delivery strongest, final long nowNs) {
        if (state != State.RECEIVING) {
            return;
        }
        policy.standFor(subscribers, strongest, nowNs);
        drops = drops == null ? DropPolicy.of(strongest, stream, queue) : drops;
        if (drops != null) {
            // It stays where the source waits again: then nothing is missing below the trailing edge.
            drops.shareWith(strongest);
        }
    }

    /// Whether the source waits for this receiver, as far as it said.
    public boolean isWaitedFor() {
        return policy.isWaitedFor();
    }

    /// Whether a successor could go on.
    public boolean isLogged() {
        return ledger.isLogged();
    }

    public State state() {
        return state;
    }

    /// The reason for the state LOST or REFUSED.
    public Reason lostReason() {
        return lostReason;
    }

    public StreamInfo stream() {
        return stream;
    }

    /// Whether the source is of an earlier build, which admits no receiver of this one.
    public boolean isSourceEarlier() {
        return handshake.isSourceEarlier();
    }

    /// Whether the source evicted this receiver; else, in state LOST, the source closed, fell silent or served it
    /// no more.
    public boolean isEvicted() {
        return source.isEvicted();
    }

    /// A duty cycle begins; call once in each, before [#onTick]. A long gap between two cycles means that this
    /// process stood still: a member then asks the source before it takes it for lost.
    ///
    /// @return how long the process stood still, in nanoseconds; else 0
    public long onCycle(final long nowNs) {
        if (state != State.RECEIVING) {
            // A handshake repeats itself, and the caller polls it rarely.
            standstill.forget();
            return 0;
        }
        final long stoodNs = standstill.onCycle(nowNs);
        if (stoodNs > 0) {
            source.onStandstill(nowNs);
            reporting.onRequest(true, nowNs);
        }
        return stoodNs;
    }

    /// How long this process stood still, where that ended within the last [#silenceNs]; else 0.
    public long stoodStillNs(final long nowNs) {
        return standstill.recentNs(nowNs);
    }

    /// Silence after which the source is lost: its announced timeout, within bounds.
    public long silenceNs() {
        return source.silenceNs();
    }

    public VerdictCounts verdicts() {
        return verdicts;
    }

    public Counts<ReceiverCount> counts() {
        return counts;
    }

    /// Of [ReceiverCount#ACKS], the ACKs that this trigger made due.
    public long acks(final AckTrigger trigger) {
        return reporting.acks(trigger);
    }

    /// The offset between the source's clock and this host's.
    public ClockOffset clock() {
        return clock;
    }

    /// The sequence of the datagram accepted last, or [#NO_SEQUENCE].
    public long acceptedSequence() {
        return acceptedSequence;
    }

    /// The sequence at which this receiver became a member; meaningful from RECEIVING on.
    public long startSequence() {
        return ledger.startSequence();
    }

    /// Length of this machine's tables: no two sequences in use are equal modulo this.
    public int windowSlots() {
        return window.capacity();
    }

    /// The sequence expected next on the data lane: behind the highest, not where a repair lies.
    public long expectedSequence() {
        return window.nextUnreceived(ledger.highest());
    }

    /// Number of sequences from `first` on that receives may be posted for: none of them has been received.
    ///
    /// @param max upper bound
    public int expectedRun(final long first, final int max) {
        return window.unreceivedRun(first, max);
    }

    public long acknowledgedSequence() {
        return window.next();
    }

    public long missing() {
        return window.missing();
    }

    /// The largest grant sent to the source.
    public long grantedSequence() {
        return ledger.granted();
    }

    /// A datagram of the data lane, of `bytes` bytes.
    public Verdict onData(final MemorySegment header, final long offset, final int bytes, final long nowNs) {
        return verdicts.count(accept(header, offset, bytes, nowNs, false));
    }

    /// Takes full datagrams behind the one that [#onData] accepted last, their headers `stride` bytes apart: as
    /// many as continue its frame in order.
    ///
    /// @return datagrams taken; [#acceptedSequence] is that of the last of them
    public int onRun(
            final MemorySegment headers, final long offset, final int stride, final int max, final long nowNs) {
        if (acceptedSequence == NO_SEQUENCE || window.end() != acceptedSequence + 1) {
            return 0;
        }
        final long first = acceptedSequence - DataLayout.FRAME_INDEX.unsigned(headers, offset);
        final long frameBytes = frames.frameBytes(first);
        final long room = Math.min(first + frameBytes / stream.slotBytes(), ledger.granted()) - window.end();
        final int run = HeaderRun.length(headers, offset, stride, (int) Math.min(max, room));
        if (run > 0) {
            window.receiveAtEnd(run);
            final long frameEnd = first + StreamInfo.slots(frameBytes, stream.slotBytes());
            onAccepted(run, acceptedSequence + run, frameEnd, false, nowNs);
            verdicts.count(Verdict.GOOD, run);
        }
        return run;
    }

    /// The caller found the data lane empty. Without such calls the machine assumes that the lane is always
    /// empty.
    public void onDrained(final long nowNs) {
        nacks.onDrained(nowNs);
    }

    /// A datagram of the data or repair lane that has no valid seal: nothing of it counts.
    public Verdict onForged() {
        acceptedSequence = NO_SEQUENCE;
        return verdicts.count(Verdict.BAD_TAG);
    }

    /// A datagram of the repair lane.
    public Verdict onRepair(final MemorySegment header, final long offset, final int bytes, final long nowNs) {
        final Verdict verdict = accept(header, offset, bytes, nowNs, true);
        if (verdict == Verdict.GOOD) {
            counts.add(ReceiverCount.REPAIRED_DATAGRAMS);
        }
        return verdicts.count(verdict);
    }

    private Verdict accept(
            final MemorySegment header, final long offset, final int bytes, final long nowNs, final boolean repair) {
        acceptedSequence = NO_SEQUENCE;
        final Verdict verdict = headers.check(header, offset, bytes);
        if (verdict != Verdict.GOOD) {
            return verdict;
        }
        source.onHeard(nowNs);
        if (DataLayout.type(header, offset) == DataLayout.TYPE_PROBE) {
            return onProbe((int) DataLayout.FRAME_INDEX.unsigned(header, offset), bytes, nowNs);
        }
        if (state != State.RECEIVING) {
            return Verdict.EARLY;
        }
        final long sequence = DataLayout.SEQUENCE.get(header, offset);
        if (window.isReceived(sequence)) {
            reporting.onDuplicate(nowNs);
            return Verdict.DUPLICATE;
        }
        final long first = sequence - DataLayout.FRAME_INDEX.unsigned(header, offset);
        final long frameEnd =
                first + StreamInfo.slots(DataLayout.FRAME_BYTES.unsigned(header, offset), stream.slotBytes());
        if (sequence >= ledger.granted()) {
            return drops != null && streamEnd.admits(frameEnd)
                    ? drops.onOverrun(header, offset, frameEnd)
                    : Verdict.IMPOSSIBLE;
        }
        if (first < queue.first() || !streamEnd.admits(frameEnd) || !frames.learn(header, offset, first)) {
            return Verdict.INCONSISTENT;
        }
        streamEnd.onFrame(frameEnd);
        if (sequence > window.end()) {
            nacks.onGap(window.end(), sequence, nowNs);
        }
        window.receive(sequence);
        onAccepted(1, sequence, frameEnd, repair, nowNs);
        return Verdict.GOOD;
    }

    /// Drops the next frames that cannot become whole any more, or expired earlier, where the source does not
    /// wait. Call until null in each cycle. Memory and credit ([#onCredit]) must follow before the next call.
    ///
    /// @return a reused object, or null when nothing is dropped
    public @Nullable DroppedFrames pollUnfinished(final long nowNs) {
        return drops == null || state != State.RECEIVING
                ? null
                : onDropped(drops.nextUnfinished(ledger.creditLimit() - queue.first(), source.rttNs(), nowNs), nowNs);
    }

    /// Drops the next frames that are whole and out of date, where the source does not wait. Call until null
    /// before [#nextFrameBytes]. Memory and credit ([#onCredit]) must follow before the next call.
    ///
    /// @return a reused object, or null when nothing is dropped
    public @Nullable DroppedFrames pollOutdated(final long nowNs) {
        return drops == null ? null : onDropped(drops.nextOutdated(nowNs), nowNs);
    }

    private @Nullable DroppedFrames onDropped(final @Nullable DroppedFrames dropped, final long nowNs) {
        if (dropped != null) {
            counts.add(ReceiverCount.DROPPED_FRAMES, dropped.frames());
            reporting.onRequest(false, nowNs);
        }
        return dropped;
    }

    /// Whether a frame of that timestamp is older than the receiver's deadline, by the clock that stamped it.
    public boolean isExpired(final long timestampNs, final long nowNs) {
        return drops != null && drops.isTooOld(timestampNs, nowNs);
    }

    private void onAccepted(
            final int count, final long last, final long frameEnd, final boolean repair, final long nowNs) {
        acceptedSequence = last;
        source.onData(nowNs);
        clock.onData(nowNs);
        queue.advance(nowNs, source.rttNs());
        if (!repair) {
            ledger.onData(last);
            nacks.onData(ledger.highestData(), nowNs);
        }
        onChange();
        reporting.onAccepted(count, last + 1 == frameEnd, nowNs);
    }

    /// True where it may become a co-root, which keeps received datagrams for its repair group.
    public boolean mayKeep() {
        return mayKeep;
    }

    /// The datagrams that a co-root keeps for its group: the caller puts each accepted datagram there as it
    /// came, and reports it by [#onStored]. Null for a receiver that does not serve.
    public @Nullable RepairStore store() {
        final CoRoot coRoot = reporting.coRoot();
        return coRoot == null ? null : coRoot.store();
    }

    /// The store holds this sequence now.
    public void onStored(final long sequence) {
        final CoRoot coRoot = reporting.coRoot();
        if (coRoot != null) {
            coRoot.onHeld(sequence);
        }
    }

    private Verdict onProbe(final int token, final int bytes, final long nowNs) {
        if (bytes == stream.headerBytes() + stream.slotBytes()) {
            state = handshake.onProbe(state, token, nowNs);
        }
        return Verdict.GOOD;
    }

    /// A datagram of the control lane, of this session or not.
    public Verdict onControl(final MemorySegment datagram, final long offset, final int bytes, final long nowNs) {
        final Verdict common = ControlLayout.check(datagram, offset, bytes, checksum);
        if (common != Verdict.GOOD) {
            return verdicts.count(common);
        }
        if (ControlLayout.SESSION.get(datagram, offset) != stream.session()) {
            return verdicts.count(Verdict.WRONG_SESSION);
        }
        final long receiver = ControlLayout.RECEIVER.get(datagram, offset);
        if (receiver != 0 && receiver != config.receiverId()) {
            return verdicts.count(reporting.onOthers(datagram, offset, nowNs));
        }
        return verdicts.count(dispatch(datagram, offset, nowNs));
    }

    private Verdict dispatch(final MemorySegment datagram, final long offset, final long nowNs) {
        return switch (ControlLayout.type(datagram, offset)) {
            case ControlLayout.TYPE_HEARTBEAT -> onHeartbeat(datagram, offset, nowNs);
            case ControlLayout.TYPE_ADMIT -> onAdmit(datagram, offset, nowNs);
            case ControlLayout.TYPE_START -> onStart(datagram, offset, nowNs);
            case ControlLayout.TYPE_FRAME -> onFrameMetadata(datagram, offset, nowNs);
            case ControlLayout.TYPE_FORMAT -> onFormat(datagram, offset, nowNs);
            case ControlLayout.TYPE_EVICT -> onEvict(datagram, offset, nowNs);
            case ControlLayout.TYPE_ASSIGN, ControlLayout.TYPE_REPAIR_GROUP, ControlLayout.TYPE_RC_CONNECT ->
                state == State.RECEIVING || state == State.ENDED
                        ? reporting.onInstruction(datagram, offset, nowNs)
                        : onEarlyInstruction(datagram, offset, nowNs);
            // Datagrams from receivers to sources reach receivers too where both share a port.
            case ControlLayout.TYPE_JOIN,
                    ControlLayout.TYPE_READY,
                    ControlLayout.TYPE_ACK,
                    ControlLayout.TYPE_NACK,
                    ControlLayout.TYPE_FRAME_REQUEST,
                    ControlLayout.TYPE_FORMAT_ACK,
                    ControlLayout.TYPE_SOLICIT,
                    ControlLayout.TYPE_RESUME,
                    ControlLayout.TYPE_LEAVE -> Verdict.UNKNOWN_MEMBER;
            case ControlLayout.TYPE_POLICY -> onPolicy(datagram, offset, nowNs);
            default -> Verdict.BAD_TYPE;
        };
    }

    private Verdict onPolicy(final MemorySegment datagram, final long offset, final long nowNs) {
        final Verdict verdict = policy.onAnswer(datagram, offset);
        if (verdict == Verdict.GOOD) {
            source.onHeard(nowNs);
        }
        return verdict;
    }

    // Of a successor whose START was lost: its source counts it already.
    private Verdict onEarlyInstruction(final MemorySegment datagram, final long offset, final long nowNs) {
        // A RC_CONNECT of a co-root is no sign of the source's life.
        final boolean ofSource = ControlLayout.type(datagram, offset) != ControlLayout.TYPE_RC_CONNECT
                || !RcConnectLayout.isOfSet(datagram, offset);
        if (state == State.STARTING && ofSource) {
            source.onHeard(nowNs);
        }
        return Verdict.EARLY;
    }

    private Verdict onHeartbeat(final MemorySegment datagram, final long offset, final long nowNs) {
        if (!HeartbeatLayout.isValid(datagram, offset)) {
            return Verdict.IMPOSSIBLE;
        }
        source.onHeartbeat(
                HeartbeatLayout.SOURCE_TIME.get(datagram, offset),
                HeartbeatLayout.RTT.unsigned(datagram, offset),
                nowNs);
        clock.onAnswer(
                HeartbeatLayout.ASKED_CLOCK.get(datagram, offset),
                HeartbeatLayout.HEARD_CLOCK.get(datagram, offset),
                HeartbeatLayout.CLOCK.get(datagram, offset),
                output.timeNs(nowNs));
        nacks.onRtt(source.rttNs());
        reporting.link().onRtt(source.rttNs());
        final int flags = ControlLayout.FLAGS.get(datagram, offset);
        final boolean direct = (flags & HeartbeatLayout.FLAG_DIRECT) != 0;
        if (state == State.ENDED) {
            reporting.onRequest(direct, nowNs);
        }
        if (state != State.RECEIVING) {
            return Verdict.GOOD;
        }
        final long announcedEnd = HeartbeatLayout.NEXT_SEQUENCE.get(datagram, offset);
        watchService(announcedEnd, announcedEnd - HeartbeatLayout.REPAIRABLE.unsigned(datagram, offset), nowNs);
        final long sent = Math.min(announcedEnd, ledger.granted());
        if (sent < announcedEnd && drops == null) {
            // The source went past this receiver's credit. So it no longer counts this receiver, and an ACK brings the
            // EVICT; or the credit came from the one whose membership this was.
            reporting.onRequest(true, nowNs);
            if (resumed == null) {
                return Verdict.IMPOSSIBLE;
            }
        }
        final boolean end = (flags & HeartbeatLayout.FLAG_END_OF_STREAM) != 0;
        if (!streamEnd.admits(announcedEnd) || (end && !streamEnd.onEnd(announcedEnd, window.end()))) {
            return Verdict.INCONSISTENT;
        }
        announce(HeartbeatLayout.NEXT_FRAME_ID.get(datagram, offset), sent);
        // Where the source waits, nothing is given up that it freed: then it does not count this receiver any more.
        if (drops != null && !policy.isWaitedFor()) {
            drops.onHeartbeat(datagram, offset, nowNs);
        }
        if (sent > window.end()) {
            nacks.onTail(window.end(), sent, nowNs);
            window.extend(sent);
        }
        if (flags != 0) {
            reporting.onRequest(direct, nowNs);
        }
        return Verdict.GOOD;
    }

    // The source frees nothing that a member which it waits for has not acknowledged, and sends nothing past the
    // credit of such a member. So it no longer counts this receiver, and may not hear it any more.
    private void watchService(final long announcedEnd, final long trail, final long nowNs) {
        if (policy.isWaitedFor() && trail > queue.acknowledgeable()) {
            source.onUnserved(Reason.UNREPAIRABLE, nowNs);
        } else if (drops == null && resumed == null && announcedEnd > ledger.granted()) {
            source.onUnserved(Reason.UNKNOWN, nowNs);
        } else {
            source.onServed();
        }
    }

    // The announced datagrams limit the number of frames.
    private void announce(final long frames, final long sent) {
        final long datagrams = Math.max(0, sent - queue.first()) + stream.frameMaxSlots();
        if (frames - queue.nextFrameId() <= datagrams * BundleLayout.FRAMES_MAX) {
            announcedFrames = Math.max(announcedFrames, frames);
        }
    }

    /// This process stood still during the handshake: the source gets time to answer.
    public void onStandstill(final long nowNs) {
        source.onStandstill(nowNs);
    }

    private Verdict onAdmit(final MemorySegment datagram, final long offset, final long nowNs) {
        if (AdmitLayout.isOfEarlierBuild(datagram, offset)) {
            handshake.onEarlierBuild();
        }
        if (!AdmitLayout.isValid(datagram, offset)) {
            return Verdict.IMPOSSIBLE;
        }
        source.onHeard(nowNs);
        state = handshake.onAdmit(
                state, AdmitLayout.TOKEN.get(datagram, offset), AdmitLayout.VALUE.get(datagram, offset), nowNs);
        return Verdict.GOOD;
    }

    private Verdict onStart(final MemorySegment datagram, final long offset, final long nowNs) {
        if (!StartLayout.isValid(datagram, offset)) {
            return Verdict.IMPOSSIBLE;
        }
        source.onHeard(nowNs);
        if (state == State.STARTING) {
            state = State.RECEIVING;
            frames.startFormats(StartLayout.NEWEST_FORMAT.get(datagram, offset));
            final Checkpoint from = resumed;
            if (from == null) {
                final long first = StartLayout.FIRST_SEQUENCE.get(datagram, offset);
                queue.start(first, StartLayout.FIRST_FRAME_ID.get(datagram, offset));
                ledger.start(first);
                // Frames may be handed out before the first ACK.
                ledger.keepStart();
            } else {
                queue.resume(from, nowNs, source.rttNs());
                streamEnd.onFrame(queue.endOfNext());
                ledger.resume(from);
            }
            clock.onData(nowNs);
        }
        if (state == State.RECEIVING) {
            reporting.onRequest(true, nowNs);
        }
        return Verdict.GOOD;
    }

    private Verdict onFrameMetadata(final MemorySegment datagram, final long offset, final long nowNs) {
        if (!FrameLayout.isValid(datagram, offset)) {
            return Verdict.IMPOSSIBLE;
        }
        source.onHeard(nowNs);
        final long first = FrameLayout.FIRST_SEQUENCE.get(datagram, offset);
        if (state != State.RECEIVING) {
            return Verdict.EARLY;
        }
        if (first < queue.first()) {
            return Verdict.DUPLICATE;
        }
        if (first >= ledger.granted()) {
            return Verdict.IMPOSSIBLE;
        }
        final byte[] bytes = FrameLayout.metadata(datagram, offset);
        frames.putMetadata(first, bytes);
        final RepairStore store = store();
        if (store != null) {
            store.putMetadata(first, bytes);
        }
        queue.advance(nowNs, source.rttNs());
        return Verdict.GOOD;
    }

    // Also before START, so that it is known before the first frame; but then one for this receiver, because a
    // START for another may be of long ago.
    private Verdict onFormat(final MemorySegment datagram, final long offset, final long nowNs) {
        if (!FormatLayout.isValid(datagram, offset)) {
            return Verdict.IMPOSSIBLE;
        }
        source.onHeard(nowNs);
        final int serial = FormatLayout.SERIAL.get(datagram, offset);
        final boolean apart = ControlLayout.RECEIVER.get(datagram, offset) != 0;
        final boolean isMember = state == State.RECEIVING || state == State.ENDED;
        if (!(apart && state == State.STARTING) && !(isMember && (apart || frames.isNewFormat(serial)))) {
            return Verdict.EARLY;
        }
        frames.putFormat(
                serial,
                FormatLayout.NUMBER.get(datagram, offset),
                FormatLayout.FIRST_SEQUENCE.get(datagram, offset),
                FormatLayout.format(datagram, offset));
        output.sendControl(FormatLayout.writeAck(ids.in(output.control()), serial));
        if (state == State.RECEIVING) {
            queue.advance(nowNs, source.rttNs());
        }
        return Verdict.GOOD;
    }

    private Verdict onEvict(final MemorySegment datagram, final long offset, final long nowNs) {
        if (!LeaveLayout.isValid(datagram, offset)) {
            return Verdict.IMPOSSIBLE;
        }
        switch (state) {
            case JOINING, PROBING -> giveUp(State.REFUSED, LeaveLayout.reason(datagram, offset));
            case STARTING, RECEIVING -> source.onGoodbye(LeaveLayout.reason(datagram, offset), nowNs);
            case ENDED, LOST, REFUSED -> {}
        }
        return Verdict.GOOD;
    }

    private int giveUp(final State end, final Reason reason) {
        state = end;
        lostReason = reason;
        return 1;
    }

    /// Slots were freed: sequences below `limit` have a slot now.
    public void onCredit(final long limit, final long nowNs) {
        if (ledger.onCredit(limit)) {
            onChange();
            reporting.onGrant(nowNs);
        }
    }

    /// Whether a datagram of the repair lane would be accepted. A caller that must find a place for it asks
    /// before [#onRepair]. Changes nothing.
    public boolean wantsRepair(final MemorySegment header, final long offset, final int bytes) {
        if (state != State.RECEIVING || headers.check(header, offset, bytes) != Verdict.GOOD) {
            return false;
        }
        final long sequence = DataLayout.SEQUENCE.get(header, offset);
        return DataLayout.type(header, offset) == DataLayout.TYPE_DATA
                && sequence < ledger.granted()
                && !window.isReceived(sequence)
                && sequence - DataLayout.FRAME_INDEX.unsigned(header, offset) >= queue.first();
    }

    /// Takes the reports of a caller that had no room for a repair.
    public RepairRequests repairRequests() {
        return nacks;
    }

    /// The receiver's actions on its source's memory.
    public SourceConnection link() {
        return reporting.link();
    }

    /// The receiver's actions on its co-root's memory.
    public CoRootConnection coRootConnection() {
        return reporting.coRootConnection();
    }

    /// First sequence of the frame that [#pollFrame] gives next.
    public long nextFrameSequence() {
        return queue.first();
    }

    public long nextFrameId() {
        return queue.nextFrameId();
    }

    /// Number of frames of the whole session that are known to have begun, by a datagram or by a heartbeat. Those
    /// from [#nextFrameId] on were neither polled nor dropped.
    public long knownFrames() {
        return Math.max(announcedFrames, begunFrames());
    }

    /// As [#knownFrames], by datagrams alone.
    public long begunFrames() {
        return queue.endOfKnown();
    }

    /// Length of the frame that [#pollFrame] gives next, in bytes; 0 when it is not whole yet.
    public long nextFrameBytes() {
        return state == State.RECEIVING || state == State.LOST ? queue.nextBytes() : 0;
    }

    /// The next whole frame in order, even of a lost source; it belongs to the caller until [#onCredit].
    ///
    /// @return a reused object, or null when no frame is whole
    public @Nullable ReceivedFrame pollFrame() {
        final long bytes = nextFrameBytes();
        if (bytes == 0) {
            endWhenDone();
            return null;
        }
        counts.add(ReceiverCount.FRAMES);
        final ReceivedFrame frame = queue.take(bytes);
        onChange();
        return frame;
    }

    private void onChange() {
        if (drops != null) {
            drops.onChange();
        }
    }

    private void endWhenDone() {
        if (state == State.RECEIVING && streamEnd.isAt(queue.first())) {
            state = State.ENDED;
            ledger.finish();
        }
    }

    /// Runs timers; returns the work done.
    public int onTick(final long nowNs) {
        return switch (state) {
            case JOINING, PROBING, STARTING -> onHandshakeTick(nowNs);
            case RECEIVING -> onReceivingTick(nowNs);
            // The source may have missed the last ACK, so the machine repeats it on request.
            case ENDED -> nextDeadlineNs() > nowNs ? 0 : reporting.onTick(nowNs);
            case LOST, REFUSED -> 0;
        };
    }

    private int onHandshakeTick(final long nowNs) {
        if (source.isLost(nowNs)) {
            return giveUp(State.LOST, source.reason(nowNs));
        }
        if (nowNs < handshake.dueNs()) {
            return 0;
        }
        final State next = handshake.onTick(state, nowNs);
        return next == state ? 1 : giveUp(next, Reason.SILENT);
    }

    private int onReceivingTick(final long nowNs) {
        if (source.isLost(nowNs) && !ledger.isComplete()) {
            return giveUp(State.LOST, source.reason(nowNs));
        }
        int work = 0;
        if (clock.dueNs() <= nowNs) {
            output.sendControl(SolicitLayout.write(ids.in(output.control()), clock.ask(output.timeNs(nowNs))));
            work++;
        }
        if (nacks.nextDeadlineNs() <= nowNs) {
            work += repairs.onTick(nacks, ledger.highestData(), nowNs);
        }
        work += reporting.onTick(nowNs) + policy.onTick(nowNs);
        return work + reporting.askFor(queue, nowNs);
    }

    public void leave() {
        if (state != State.REFUSED && state != State.LOST) {
            output.sendControl(LeaveLayout.writeLeave(ids.in(output.control()), Reason.LEFT));
        }
    }

    /// The time at which [#onTick] has something to do; at the latest the time at which the source counts as
    /// lost.
    public long nextDeadlineNs() {
        return switch (state) {
            case JOINING, PROBING, STARTING -> Math.min(handshake.dueNs(), source.lostNs());
            case RECEIVING ->
                Math.min(
                        Math.min(
                                Math.min(clock.dueNs(), policy.dueNs()),
                                Math.min(reporting.nextDeadlineNs(), queue.askNs())),
                        Math.min(
                                Math.min(
                                        nacks.nextDeadlineNs(),
                                        drops == null ? Long.MAX_VALUE : drops.nextDeadlineNs()),
                                ledger.isComplete() ? Long.MAX_VALUE : source.lostNs()));
            case ENDED -> reporting.nextDeadlineNs() < source.silentNs() ? reporting.nextDeadlineNs() : Long.MAX_VALUE;
            case LOST, REFUSED -> Long.MAX_VALUE;
        };
    }
}
