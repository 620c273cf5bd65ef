package io.framecast.reliability.sim;

import static java.util.Objects.requireNonNull;

import io.framecast.reliability.assembly.Assembly;
import io.framecast.reliability.assembly.FrameMemory.Space;
import io.framecast.reliability.assembly.MemoryShape;
import io.framecast.reliability.assembly.ReadSlots;
import io.framecast.reliability.assembly.RepairSlots;
import io.framecast.reliability.assembly.SlotMemory;
import io.framecast.reliability.flow.ClockOffset;
import io.framecast.reliability.flow.SourceClock;
import io.framecast.reliability.group.FollowerTable;
import io.framecast.reliability.group.Promise;
import io.framecast.reliability.lane.LanePort;
import io.framecast.reliability.membership.Progress;
import io.framecast.reliability.membership.SourceMembership;
import io.framecast.reliability.onesided.ReadCount;
import io.framecast.reliability.onesided.RemoteWindows;
import io.framecast.reliability.receive.Checkpoint;
import io.framecast.reliability.receive.ReceiverConfig;
import io.framecast.reliability.receive.ReceiverCount;
import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.receive.ReceiverMachine.State;
import io.framecast.reliability.receive.ReceiverOutput;
import io.framecast.reliability.receive.RemoteMemory;
import io.framecast.reliability.session.FrameConsumer;
import io.framecast.reliability.session.ReceiveSession;
import io.framecast.reliability.sim.net.SimClock;
import io.framecast.reliability.sim.net.SimInbox;
import io.framecast.reliability.sim.net.SimLane;
import io.framecast.reliability.sim.net.SimReceiveLane;
import io.framecast.reliability.sim.plan.Plant;
import io.framecast.reliability.sim.plan.SimOptions;
import io.framecast.reliability.sim.record.SimCount;
import io.framecast.reliability.sim.record.SimJournal;
import io.framecast.reliability.sim.secure.SecureReceiver;
import io.framecast.reliability.sim.shared.SimSegment;
import io.framecast.reliability.sim.shared.Step;
import io.framecast.reliability.wire.AckLayout;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.HeartbeatLayout;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.LeaveLayout;
import io.framecast.reliability.wire.NackLayout;
import io.framecast.reliability.wire.RcConnectLayout;
import io.framecast.reliability.wire.ResumeLayout;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Verdict;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Objects;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// One membership of one process in one session, under an identity of its own: the machine, its memory, the user
/// that takes and releases frames, and the checks.
final class SimReception {
    /// The allowance for overtaking datagrams in runs without overtaking.
    static final int REORDER_QUIET = 3;

    private static final int CYCLES_MAX = 4;
    private static final double MALFORMED = 0.02;
    private static final long EPOCH_OFFSET_MAX_NS = 5_000_000_000L;

    /// Takes the session's frames.
    interface Taker extends FrameConsumer {
        /// Frames that are not released.
        int held();

        /// Whether everything was taken, and everything released.
        boolean isQuiet();

        /// Its user takes the frames that are there.
        ///
        /// @return whether there was any
        boolean advance();
    }

    /// A member's place at the source, which may pass from process to process.
    static final class Membership {
        private SimReception holder;
        private boolean over;

        private Membership(final SimReception first) {
            holder = first;
        }

        /// The reception that has it now.
        SimReception holder() {
            return holder;
        }

        /// The source ended it.
        boolean isOver() {
            return over;
        }
    }

    private final SimReceiver process;
    private final SimWorld world;
    private final SimSession source;
    private final SimUser user;
    private final @Nullable SecureReceiver secure;
    private final long id;
    private final int address;
    private final ReceiverMachine machine;
    private final ReceiveSession session;
    private final Taker consumer;
    private final @Nullable SimSharing sharing;
    private final @Nullable Past past;
    private final Membership membership;
    private final SimReceiveLane dataLane;
    private final SimReceiveLane repairLane;
    private final RepairSlots repairs;
    private final @Nullable RemoteWindows windows;
    private final FrameCheck frames;
    private final LifeCheck life;
    private final SourceMembership part;
    private final SourceClock clock;
    private final PlantedReceiver plant;
    // Of this host's calendar: far from the source's.
    private final long epochOffsetNs;
    // Of the last cycle.
    private int work;
    private boolean concluded;
    // Its lanes are closed; its user may still hold frames.
    private boolean left;
    // Losses that the journal has.
    private long counted;

    /// @param past of the leader whose membership goes on; null for a new one
    SimReception(
            final SimReceiver process, final SimSession source, final StreamInfo stream, final @Nullable Past past) {
        this.process = process;
        this.past = past;
        membership = past == null ? new Membership(this) : past.holder().membership;
        this.source = source;
        world = process.world();
        user = process.user();
        address = process.host().address();
        final RandomGenerator random = process.random();
        final SimOptions options = world.options();
        secure = process.secure();
        id = newId(stream.session(), random);
        epochOffsetNs = id % EPOCH_OFFSET_MAX_NS;
        final SimMember member = process instanceof final SimMember one ? one : null;
        final MemoryShape shape = SimFrameMemory.Shapes.draw(process, stream, member);
        final SimFrameMemory memory = new SimFrameMemory(process, shape, member != null, random);
        final LanePort.Placement placement = SimFrameMemory.Shapes.placement(shape.kind(), random);
        final double malformed = options.faults().unrest() > 0 && random.nextInt(4) == 0 ? MALFORMED : 0;
        dataLane = lane(SimLane.DATA, memory.data(), placement, shape.batchMax(), malformed, memory);
        repairLane = lane(SimLane.REPAIR, memory.repairs(), placement, RepairSlots.BATCH_MAX, malformed, memory);
        final SimBuffers buffers = new SimBuffers(process, memory, dataLane, id);
        // The members of a host group read frames in the ring.
        final Assembly assembly = member == null ? Assembly.of(shape, memory, buffers) : Assembly.of(shape, memory);
        repairs = new RepairSlots(shape, memory);
        final Output output = new Output(this, process);
        final SimCoRoot serving = random.nextDouble() < 0.9
                ? new SimCoRoot(this, process, stream, output.control(), repairs.reads(), process.filler(id))
                : null;
        windows = process.links() ? new SimOneSided.Windows(this, process, stream, repairs.reads()) : null;
        final Delivery own = user.delivery();
        final Delivery policy =
                past == null ? own : Promise.policy(past.promise().waitedFor(), own);
        machine = new ReceiverMachine(config(stream, shape, assembly, policy), random, output, serving);
        // A leader's policy changes with its members, which check what they get.
        final boolean changes = member != null && options.audience().impatient() > 0;
        frames = new FrameCheck(world, source, changes ? Delivery.LATEST : own, address);
        clock = new SourceClock(user.delivery());
        part = past == null
                ? SourceMembership.joining(stream.session(), new OwnProgress(this))
                : SourceMembership.resuming(stream.session(), new OwnProgress(this));
        life = new LifeCheck(this, process, machine);
        plant = new PlantedReceiver(this, process);
        if (member == null) {
            sharing = null;
            consumer = new SimConsumer(this, process, memory, buffers, frames, clock);
        } else {
            sharing = new SimSharing(member, this, machine, assembly, memory.of(Space.RING), policy, past);
            consumer = sharing;
            machine.log(sharing);
            copyPast(assembly, memory.of(Space.RING));
        }
        // Members judge whole frames themselves.
        final Delivery judged = member == null ? own : Delivery.RELIABLE;
        session =
                new ReceiveSession(machine, assembly, repairs, dataLane, repairLane, consumer, judged).readBy(windows);
        protect();
    }

    private ReceiverConfig config(
            final StreamInfo stream, final MemoryShape shape, final Assembly assembly, final Delivery policy) {
        final SimOptions options = world.options();
        final RandomGenerator random = process.random();
        final byte[] name = SimNetwork.name(address);
        return new ReceiverConfig(
                stream,
                id,
                past == null ? ~id : ResumeLayout.next(past.checkpoint().secret),
                shape.ringSlots() - shape.spareSlots(),
                Math.min(options.flow().receiveCapacity(), assembly.prepare(dataLane)),
                options.faults().isNone() ? REORDER_QUIET : random.nextInt(8),
                policy,
                new LaneAddresses(name, name, windows == null ? new byte[0] : windows.descriptor()),
                epochOffsetNs,
                options.audience().siteOf(random.nextInt(3)));
    }

    // A successor without keys goes on as the engine's: no source knows it.
    private long newId(final long nonce, final RandomGenerator random) {
        final long made = secure == null ? 0 : secure.receiverId(nonce, random);
        if (secure != null && made == 0) {
            secure.refuse(nonce);
        }
        return made == 0 ? random.nextLong() | 1 : made;
    }

    private void protect() {
        if (secure != null) {
            session.openedBy(secure.data(source.nonce(), repairs.slotMemory().headers()));
        }
    }

    private SimReceiveLane lane(
            final SimLane lane,
            final SlotMemory slots,
            final LanePort.Placement placement,
            final int batchMax,
            final double malformed,
            final SimFrameMemory memory) {
        final SimInbox inbox = new SimInbox(lane, process.queueDatagrams(), world.journal());
        return new SimReceiveLane(inbox, slots, placement, batchMax, process.random(), malformed, memory::posted);
    }

    /// Its part in the memberships of its process.
    SourceMembership part() {
        return part;
    }

    /// The process was a member of this session before.
    ///
    /// @param frameId frames from this one on are reported lost, up to the start
    /// @param expected what that must be
    void resumeFrom(final long frameId, final long expected) {
        session.resumeFrom(frameId);
        frames.resumeFrom(expected);
    }

    /// The source is lost: the first frame that its user neither got nor heard of.
    long missedFrom() {
        return past != null && !session.isStarted() ? past.checkpoint().frameId : session.nextFrameId();
    }

    /// Closes its lanes. Its user still takes and releases frames.
    void close() {
        left = true;
        if (sharing != null) {
            sharing.abandon();
        }
        dataLane.inbox().clear();
        repairLane.inbox().clear();
    }

    /// Whether its lanes are closed.
    boolean hasLeft() {
        return left;
    }

    /// Whether the source counts it as a member, and it knows that.
    boolean isMember() {
        return (machine.state() == State.RECEIVING || isEnded()) && !life.isDismissed();
    }

    /// The handshake begins.
    void begin() {
        life.onHeard();
        machine.start(process.nowNs());
    }

    // The ring is empty, so its first sequences lie where they would without an earlier membership.
    private void copyPast(final Assembly assembly, final byte[] ring) {
        if (past != null) {
            final int offset = (int) assembly.ringOffset(past.checkpoint().firstSequence);
            final int head = Math.min(past.payload().length, ring.length - offset);
            System.arraycopy(past.payload(), 0, ring, offset, head);
            System.arraycopy(past.payload(), head, ring, 0, past.payload().length - head);
        }
    }

    /// The membership goes on: sends RESUME to the source.
    void resume() {
        life.onHeard();
        machine.resume(requireNonNull(past).checkpoint(), process.nowNs());
        if (isLost()) {
            // Another one goes on.
            life.dismiss();
        }
    }

    /// The source gave this receiver a place that another one had.
    ///
    /// @param sent sequence that the source sends next
    void onMoved(final long sent) {
        if (past == null || membership.holder == this) {
            return;
        }
        if (!succeeds(membership.holder)) {
            violation("gets a membership that had gone on without it");
        }
        membership.holder.life.dismiss();
        membership.holder = this;
        life.onCounted();
        frames.start(past.checkpoint().frameId);
        // Everything behind the promise is sent once more, though the network lost none of it.
        world.journal().count(SimCount.LOSSES, Math.max(0, sent - past.checkpoint().acknowledged));
    }

    boolean isResumed() {
        return past != null;
    }

    // True when it goes on with that one's membership, directly or by a successor between the two.
    private boolean succeeds(final SimReception holder) {
        for (SimReception one = this; one.past != null; one = one.past.holder()) {
            if (one.past.holder() == holder) {
                return true;
            }
        }
        return false;
    }

    /// The source did not take its RESUME, or answered that it is no member.
    void onRefused() {
        final boolean goesOn = past != null && (membership.holder == this || succeeds(membership.holder));
        if (goesOn && !membership.over && !source.isClosed()) {
            violation("is refused though its membership lives");
        }
    }

    /// The source notified this receiver that it is no member.
    void onEvicted(final long sourceNowNs, final long aliveTimeoutNs, final LeaveLayout.Reason reason) {
        final boolean holds = membership.holder == this;
        if (holds && reason != LeaveLayout.Reason.UNKNOWN) {
            membership.over = true;
        }
        onRefused();
        if (holds) {
            life.onEvicted(sourceNowNs, aliveTimeoutNs, reason);
        } else {
            life.dismiss();
        }
    }

    Membership membership() {
        return membership;
    }

    /// The part of it that its host shares; null where it has a user of its own.
    @Nullable
    SimSharing sharing() {
        return sharing;
    }

    /// Its process does not lead any more, and lives.
    void drop() {
        concluded = true;
    }

    int address() {
        return address;
    }

    long id() {
        return id;
    }

    /// The source's life in which it is a member.
    SimSession source() {
        return source;
    }

    ReceiveSession session() {
        return session;
    }

    ReceiverMachine machine() {
        return machine;
    }

    /// The source's duties to this receiver, by the source's checks.
    LifeCheck life() {
        return life;
    }

    /// The injected bug.
    PlantedReceiver plant() {
        return plant;
    }

    /// The frames that it must be given.
    FrameCheck frames() {
        return frames;
    }

    /// Whether the source must respect this receiver's grant and acknowledgements.
    boolean isCounted() {
        return machine.state() == State.RECEIVING && !life.isDismissed() && machine.isWaitedFor();
    }

    /// Whether the source may give it up for being slow.
    boolean mayBeEvicted() {
        return sharing == null ? user.delivery().kind() == Delivery.Kind.EVICT : sharing.evicts();
    }

    boolean isLost() {
        return machine.state() == State.LOST || machine.state() == State.REFUSED;
    }

    boolean isRefused() {
        return machine.state() == State.REFUSED;
    }

    boolean isEnded() {
        return machine.state() == State.ENDED;
    }

    /// Whether the membership is over: everything was delivered or reported, and all frames were released.
    boolean isFinished() {
        return (isEnded() || isLost()) && (isRefused() || isDelivered()) && consumer.isQuiet();
    }

    /// Whether everything was delivered or reported.
    boolean isDelivered() {
        return session.isEnded() || (isLost() && world.plant() == Plant.DROP_WHOLE_FRAMES);
    }

    void leave() {
        machine.leave();
        membership.over |= membership.holder == this;
        life.dismiss();
    }

    boolean enqueue(final SimLane lane, final MemorySegment datagram) {
        return lane == SimLane.DATA
                ? dataLane.admits() && dataLane.inbox().add(datagram)
                : repairLane.inbox().add(datagram);
    }

    /// Whether datagrams wait for the next cycle. If the last cycle took none, they wait for slots.
    boolean isWaiting() {
        return !left
                && work > 0
                && (!dataLane.inbox().isEmpty() || !repairLane.inbox().isEmpty());
    }

    // Datagrams of this session that arrived and found no use.
    private long unused() {
        return machine.verdicts().get(Verdict.EARLY)
                + machine.verdicts().get(Verdict.OVERRUN)
                + session.assembly().refusedRepairs();
    }

    int cycle() {
        if (left) {
            return takeBack();
        }
        plant.onData(dataLane.inbox());
        plant.onCycle();
        doWork();
        life.check();
        if (sharing != null) {
            shareClock(sharing);
            sharing.report();
        }
        // Room that one cycle makes may let the next cycle drop frames, which makes more room.
        for (int cycles = 1; cycles < CYCLES_MAX && nextDeadlineNs() <= process.nowNs(); cycles++) {
            doWork();
        }
        if (sharing != null) {
            sharing.onCycle();
        }
        if (nextDeadlineNs() <= process.nowNs()) {
            violation("its deadline does not move: " + machine.state());
        }
        world.journal().count(SimCount.LOSSES, unused() - counted);
        counted = unused();
        return work;
    }

    private void shareClock(final SimSharing shared) {
        final ClockOffset measured = machine.clock();
        final long hostNs = process.nowNs() + epochOffsetNs - world.events().nowNs();
        shared.onClock(measured.offsetNs() + hostNs, measured.boundNs(process.nowNs()));
    }

    private int takeBack() {
        final int returned = session.takeBack(process.nowNs());
        consumer.advance();
        if (sharing != null) {
            sharing.onCycle();
        }
        return returned;
    }

    private void doWork() {
        final long before = accepted();
        final long refusedBefore = refused();
        final long unplacedBefore = session.assembly().refusedRepairs();
        final long repairedBefore = machine.counts().get(ReceiverCount.REPAIRED_DATAGRAMS);
        final boolean quiet = world.options().faults().isNone();
        final List<Long> missing = quiet ? missingInRepairs() : List.of();
        work = 0;
        do {
            work += session.doWork(process.nowNs());
            if (machine.state() == State.LOST) {
                frames.allowLoss();
            }
        } while (consumer.advance() && session.isWaiting());
        if (accepted() > before) {
            life.onHeard();
        } else if (refused() > refusedBefore) {
            life.onNoticed();
        }
        if (session.assembly().refusedRepairs() > unplacedBefore) {
            // The missing datagrams of these frames wait for memory here, not for a NACK.
            repairLane.taken().forEach(this::onUnplaced);
            onUnplacedReads();
        }
        if (quiet && machine.counts().get(ReceiverCount.REPAIRED_DATAGRAMS) > repairedBefore) {
            missing.stream()
                    .filter(sequence ->
                            sequence < machine.acknowledgedSequence() || machine.expectedRun(sequence, 1) == 0)
                    .forEach(sequence ->
                            world.tail().onRepaired(sequence, world.events().nowNs()));
        }
        dataLane.clearTaken();
        repairLane.clearTaken();
    }

    // Missing sequences among the waiting repairs.
    private List<Long> missingInRepairs() {
        return repairLane.inbox().queue().stream()
                .filter(datagram -> machine.wantsRepair(datagram, 0, (int) datagram.byteSize()))
                .map(datagram -> DataLayout.SEQUENCE.get(datagram, 0))
                .distinct()
                .toList();
    }

    // The reads without memory are unknown, so the check assumes all datagrams in the read slots.
    private void onUnplacedReads() {
        final SlotMemory slots = repairs.slotMemory();
        final ReadSlots reads = repairs.reads();
        for (int i = 0; reads != null && i < reads.slots(); i++) {
            onUnplaced(slots.headers().asSlice(reads.headerOffset(i), DataLayout.LENGTH));
        }
    }

    private void onUnplaced(final MemorySegment datagram) {
        if (datagram.byteSize() >= DataLayout.LENGTH) {
            final long first = DataLayout.SEQUENCE.get(datagram, 0) - DataLayout.FRAME_INDEX.unsigned(datagram, 0);
            final long slots = StreamInfo.slots(
                    DataLayout.FRAME_BYTES.unsigned(datagram, 0),
                    machine.stream().slotBytes());
            // Forged datagrams name any sequence.
            final boolean near = first < machine.acknowledgedSequence() + machine.windowSlots();
            if (first >= machine.startSequence() && near && slots <= machine.windowSlots()) {
                life.onReported(first, (int) slots);
            }
        }
    }

    long nextDeadlineNs() {
        return left ? Long.MAX_VALUE : session.nextDeadlineNs();
    }

    void onControl(final MemorySegment datagram) {
        final boolean receiving = machine.state() == State.RECEIVING;
        final MemorySegment shown = plant.onControl(datagram);
        final Verdict verdict = machine.onControl(shown, 0, (int) shown.byteSize(), process.nowNs());
        if (verdict == Verdict.GOOD) {
            onHeard(shown);
        }
        final long to = shown.byteSize() < ControlLayout.LENGTH ? 0 : ControlLayout.RECEIVER.get(shown, 0);
        if ((to != 0 && to != id) || isOfSet(shown)) {
            // Reports of its group, or its own answers, are no sign of the source's life.
            return;
        }
        if (!verdict.isRejection()) {
            life.onHeard();
        } else if (verdict == Verdict.IMPOSSIBLE || verdict == Verdict.INCONSISTENT) {
            life.onNoticed();
        } else {
            return;
        }
        if (ControlLayout.type(datagram, 0) == ControlLayout.TYPE_HEARTBEAT) {
            life.onRtt(HeartbeatLayout.RTT.unsigned(datagram, 0));
            if (verdict == Verdict.GOOD && receiving) {
                frames.onClock(HeartbeatLayout.CLOCK.get(datagram, 0));
            }
            checkClock();
        }
    }

    private void onHeard(final MemorySegment datagram) {
        part.onHeard(process.nowNs());
        if (ControlLayout.type(datagram, 0) == ControlLayout.TYPE_HEARTBEAT) {
            clock.onHeartbeat(datagram, 0, machine.clock(), process.nowNs());
        }
    }

    // An offset that was just measured is right to within its bound.
    private void checkClock() {
        final ClockOffset measured = machine.clock();
        if (measured.measuredNs() != process.nowNs() || measured.boundNs(process.nowNs()) == ClockOffset.UNKNOWN) {
            return;
        }
        final long nowNs = world.events().nowNs();
        final long trueNs = source.calendarNs(nowNs) - process.clock().at(nowNs) - epochOffsetNs;
        final long bound = measured.boundNs(process.nowNs());
        // The clocks drift apart during the exchange.
        final long driftNs = 2 * bound * 2 * SimClock.RATE_PPM_MAX / 1_000_000;
        if (Math.abs(measured.offsetNs() - trueNs) > bound + driftNs + 2) {
            violation("takes the source's clock to be " + measured.offsetNs() + " ns ahead within " + bound + ", it is "
                    + trueNs);
        }
    }

    private static boolean isOfSet(final MemorySegment datagram) {
        return datagram.byteSize() >= ControlLayout.LENGTH
                && ControlLayout.type(datagram, 0) == ControlLayout.TYPE_RC_CONNECT
                && RcConnectLayout.isOfSet(datagram, 0);
    }

    private long accepted() {
        return machine.verdicts().get(Verdict.GOOD)
                + machine.verdicts().get(Verdict.DUPLICATE)
                + machine.verdicts().get(Verdict.OVERRUN)
                + machine.verdicts().get(Verdict.EARLY);
    }

    // Datagrams of this session without use.
    private long refused() {
        return machine.verdicts().get(Verdict.IMPOSSIBLE) + machine.verdicts().get(Verdict.INCONSISTENT);
    }

    /// The memory that it reads.
    RemoteMemory remote() {
        return windows == null ? RemoteMemory.NONE : windows;
    }

    /// Seals a datagram to another member, where the stream is protected.
    ///
    /// @return null where it must not be sent
    @Nullable
    MemorySegment toMember(final MemorySegment plain) {
        return secure == null ? plain : secure.toMember(plain, id);
    }

    /// The membership is over; checked once.
    void conclude() {
        if (!concluded) {
            concluded = true;
            if (windows != null) {
                windows.close();
                final SimJournal journal = world.journal();
                journal.count(SimCount.PULLS, windows.sourceReads().get(ReadCount.ARRIVED));
                journal.count(SimCount.SET_PULLS, windows.coRootReads().get(ReadCount.ARRIVED));
                journal.count(
                        SimCount.STALE_PULLS,
                        windows.sourceReads().get(ReadCount.STALE)
                                + windows.coRootReads().get(ReadCount.STALE));
            }
            frames.conclude(isEnded());
            if (isEnded() && source.isClosed()) {
                violation("ended though its source closed within a frame");
            }
        }
    }

    void violation(final String text) {
        world.violation("receiver " + address + ": " + text);
    }

    /// The reason why this receiver has not finished, for the report.
    String describe() {
        return "receiver " + address + " is " + machine.state() + " at " + machine.acknowledgedSequence()
                + ", missing " + machine.missing() + ", granted " + machine.grantedSequence() + ", next frame at "
                + machine.nextFrameSequence() + ", holds " + consumer.held() + ", slots up to "
                + session.assembly().creditLimit();
    }

    /// What a leader of a host group left to its successor.
    ///
    /// @param holder its reception
    /// @param left its words, as its successor mapped them
    /// @param claim on them
    /// @param payload of the frame in progress, as far as it was acknowledged
    record Past(SimReception holder, FollowerTable left, int claim, Promise promise, byte[] payload) {
        Checkpoint checkpoint() {
            return promise.checkpoint();
        }

        SimSharing sharing() {
            return Objects.requireNonNull(holder.sharing());
        }

        SimSegment segment() {
            return sharing().segment();
        }

        /// Whether no other successor has claimed them since.
        boolean isNewest() {
            return left.isNewest(claim);
        }
    }

    /// A reception's progress, for the machine of its process.
    ///
    /// @param reception which has ended when its user has everything
    record OwnProgress(SimReception reception) implements Progress {
        @Override
        public State state() {
            return reception.machine().state();
        }

        @Override
        public LeaveLayout.Reason lostReason() {
            return reception.machine().lostReason();
        }

        @Override
        public long silenceNs() {
            return reception.machine().silenceNs();
        }

        @Override
        public boolean isStarted() {
            return reception.session().isStarted();
        }

        @Override
        public boolean isEnded() {
            return reception.isDelivered();
        }

        @Override
        public long nextFrameId() {
            return reception.session().nextFrameId();
        }
    }

    /// What a receiver's machine sends: the network gets it, behind the checks.
    static final class Output implements ReceiverOutput {
        private final SimReception reception;
        private final SimReceiver process;
        private final SimWorld world;
        private final @Nullable SecureReceiver secure;
        private final MemorySegment scratch = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);
        private int coRoot = SimNetwork.SOURCE;

        Output(final SimReception reception, final SimReceiver process) {
            this.reception = reception;
            this.process = process;
            world = process.world();
            secure = process.secure();
        }

        @Override
        public MemorySegment control() {
            return scratch;
        }

        @Override
        public void sendControl(final int bytes) {
            process.pass(Step.STORE);
            if (isMeant()) {
                final MemorySegment datagram = secure == null ? copy(bytes) : secure.toSource(copy(bytes));
                if (datagram != null) {
                    world.archive().offer(SimLane.CONTROL, reception.address(), datagram);
                    world.network().toSource(reception.address(), datagram);
                }
            }
            process.pass(Step.SENT);
        }

        @Override
        public RemoteMemory remote() {
            return reception.remote();
        }

        @Override
        public boolean connectCoRoot(final byte @Nullable [] controlAddress) {
            coRoot = controlAddress == null ? SimNetwork.SOURCE : SimNetwork.number(controlAddress);
            return world.network().isAddress(coRoot);
        }

        @Override
        public void sendToCoRoot(final int bytes) {
            process.pass(Step.STORE);
            if (isMeant()) {
                world.count(SimCount.REPORTS);
                final MemorySegment datagram = reception.toMember(copy(bytes));
                if (datagram != null) {
                    world.network().between(reception.address(), coRoot, SimLane.CONTROL, datagram);
                }
            }
            process.pass(Step.SENT);
        }

        private MemorySegment copy(final int bytes) {
            return MemorySegment.ofArray(scratch.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE));
        }

        // Records a control datagram before it is sent; false when an injected bug suppresses it.
        private boolean isMeant() {
            final int type = ControlLayout.type(scratch, 0);
            if (type == ControlLayout.TYPE_NACK) {
                if (world.plant() == Plant.FORGET_NACK) {
                    return false;
                }
                for (int i = 0; i < NackLayout.ranges(scratch, 0); i++) {
                    reception.life().onReported(NackLayout.first(scratch, 0, i), NackLayout.count(scratch, 0, i));
                }
                if (NackLayout.acknowledges(scratch, 0)) {
                    reception.frames().onAcknowledged(AckLayout.ACKNOWLEDGED.get(scratch, 0));
                }
            } else if (type == ControlLayout.TYPE_ACK) {
                reception.plant().onAck(scratch);
                // An aggregate covers other members as well, and more of them as they report.
                if (!AckLayout.isAggregate(scratch, 0)) {
                    reception.frames().onAcknowledged(AckLayout.ACKNOWLEDGED.get(scratch, 0));
                }
                if ((ControlLayout.FLAGS.get(scratch, 0) & AckLayout.FLAG_COMPLETE) != 0) {
                    reception.life().onComplete();
                }
            }
            return true;
        }
    }
}
