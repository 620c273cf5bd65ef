package io.framecast.reliability.sim;

import io.framecast.reliability.BundleTable;
import io.framecast.reliability.GivenUp;
import io.framecast.reliability.ReceivedFrame;
import io.framecast.reliability.ReceiverConfig;
import io.framecast.reliability.ReceiverMachine;
import io.framecast.reliability.ReceiverMachine.State;
import io.framecast.reliability.ReceiverOutput;
import io.framecast.reliability.wire.AckLayout;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.HeartbeatLayout;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.LinkLayout;
import io.framecast.reliability.wire.LinkOffer;
import io.framecast.reliability.wire.NackLayout;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Verdict;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// One membership of one process in one session, under an identity of its own: the machine, its memory, the
/// user who takes and returns frames, and the checks of what it does.
final class SimReception implements ReceiverOutput {
    /// How far datagrams may be overtaken where nothing overtakes.
    static final int REORDER_QUIET = 3;

    private final SimReceiver process;
    private final SimWorld world;
    private final SimSession session;
    private final SimUser user;
    private final long id;
    private final int address;
    private final ReceiverMachine machine;
    private final SimPlacement placement;
    private final BundleTable bundle;
    private final SimInbox data;
    private final SimInbox repair;
    private final SimReaches reach;
    private final FrameCheck frames;
    private final LifeCheck life;
    private final PlantedReceiver plant;
    private final MemorySegment scratch = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);
    private final boolean saysDrained;
    private int coRoot = SimNetwork.SOURCE;
    private int held;
    private boolean concluded;

    SimReception(final SimReceiver process, final SimSession session, final StreamInfo stream) {
        this.process = process;
        this.session = session;
        world = process.host().world();
        user = process.user();
        address = process.host().address();
        final RandomGenerator random = process.random();
        final SimOptions options = world.options();
        id = random.nextLong() | 1;
        saysDrained = random.nextBoolean();
        data = new SimInbox(process.queueDatagrams());
        repair = new SimInbox(process.queueDatagrams());
        final int framesHeld = options.flow().framesHeld();
        final int ringSlots =
                (int) ReceiverConfig.ringSlotsMin(stream, framesHeld) + random.nextInt(2) * random.nextInt(64);
        final byte[] name = SimCoRoot.name(address);
        final SimCoRoot serving = random.nextDouble() < 0.9 ? new SimCoRoot(process, stream, scratch, repair) : null;
        machine = new ReceiverMachine(
                new ReceiverConfig(
                        stream,
                        id,
                        ringSlots,
                        options.flow().receiveCapacity(),
                        options.faults().isNone() ? REORDER_QUIET : random.nextInt(8),
                        user.delivery(),
                        new LaneAddresses(name, name, process.links() ? name : new byte[0]),
                        random.nextInt(3)),
                random,
                this,
                serving);
        reach = new SimReaches(process, world, machine, repair, serving);
        placement = SimPlacement.of(options, machine, ringSlots, random);
        bundle = new BundleTable(stream);
        frames = new FrameCheck(world, session, user.delivery(), address);
        life = new LifeCheck(this, process, machine);
        plant = new PlantedReceiver(this, process);
    }

    /// The handshake begins.
    void begin() {
        life.onHeard();
        machine.start(process.nowNs());
    }

    long id() {
        return id;
    }

    SimSession session() {
        return session;
    }

    SimWorld world() {
        return world;
    }

    ReceiverMachine machine() {
        return machine;
    }

    Delivery delivery() {
        return user.delivery();
    }

    /// What its source owes it, as the source's checks see it.
    LifeCheck life() {
        return life;
    }

    /// What it must be given.
    FrameCheck frames() {
        return frames;
    }

    /// Whether the source must respect this receiver's grant and acknowledgements.
    boolean isCounted() {
        return machine.state() == State.RECEIVING
                && !life.isDismissed()
                && delivery().isWaitedFor();
    }

    /// Whether the source has nothing to do with it any more.
    boolean isDismissed() {
        return life.isDismissed();
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

    /// Whether nothing will happen any more: over, all that is whole delivered, all of it given back.
    boolean isFinished() {
        return held == 0 && (isEnded() || (isLost() && !isAnyWhole()));
    }

    private boolean isAnyWhole() {
        return machine.nextFrameBytes() > 0 && !(isLost() && plant.dropsWholeFrames());
    }

    void leave() {
        machine.leave();
        life.dismiss();
    }

    boolean enqueue(final SimLane lane, final MemorySegment datagram) {
        return (lane == SimLane.DATA ? data : repair).add(datagram);
    }

    boolean isWaiting() {
        return !data.isEmpty() || !repair.isEmpty();
    }

    long overflows() {
        return data.overflows() + repair.overflows();
    }

    /// Datagrams of this session that came here and were of no use, through nobody's fault but the network's,
    /// or for want of room.
    long losses() {
        return overflows()
                + machine.verdicts().get(Verdict.EARLY)
                + machine.verdicts().get(Verdict.OVERRUN)
                + placement.refused();
    }

    int cycle() {
        reach.cycle();
        final int work = receive();
        plant.onCycle();
        machine.onCycle(process.nowNs());
        tick();
        deliver();
        life.check();
        return work + placement.askAgain(machine, process.nowNs());
    }

    private void tick() {
        for (int i = 0; i < 2 && machine.nextDeadlineNs() <= process.nowNs(); i++) {
            machine.onTick(process.nowNs());
        }
        if (machine.nextDeadlineNs() <= process.nowNs()) {
            violation("its deadline does not move: " + machine.state());
        }
    }

    long nextDeadlineNs() {
        return machine.nextDeadlineNs();
    }

    void onControl(final MemorySegment datagram) {
        final boolean receiving = machine.state() == State.RECEIVING;
        final MemorySegment shown = plant.onControl(datagram);
        final Verdict verdict = machine.onControl(shown, 0, (int) shown.byteSize(), process.nowNs());
        final long to = shown.byteSize() < ControlLayout.LENGTH ? 0 : ControlLayout.receiver(shown, 0);
        if ((to != 0 && to != id) || isOfSet(shown)) {
            // What others report to it as their co-root, or its own answers, is no sign of the source's life.
            return;
        }
        if (!verdict.isRejection()) {
            life.onHeard();
        } else if (verdict == Verdict.IMPOSSIBLE || verdict == Verdict.INCONSISTENT) {
            life.onNoticed();
        } else {
            return;
        }
        if (!receiving && machine.state() == State.RECEIVING) {
            placement.start(machine.startSequence());
        }
        if (ControlLayout.type(datagram, 0) == ControlLayout.TYPE_HEARTBEAT) {
            life.onRtt(HeartbeatLayout.rttNs(datagram, 0));
            if (verdict == Verdict.GOOD && receiving) {
                frames.onClock(HeartbeatLayout.clockNs(datagram, 0));
            }
        }
    }

    private static boolean isOfSet(final MemorySegment datagram) {
        return datagram.byteSize() >= ControlLayout.LENGTH
                && ControlLayout.type(datagram, 0) == ControlLayout.TYPE_LINK
                && LinkLayout.isOfSet(datagram, 0);
    }

    private int receive() {
        final long nowNs = process.nowNs();
        plant.onData(data);
        final long before = accepted();
        final long refusedBefore = refused();
        int work = data.isEmpty() ? 0 : placement.receiveData(data.queue(), machine, nowNs);
        if (saysDrained && data.isEmpty()) {
            machine.onDrained(nowNs);
        }
        for (int i = 0; i < world.options().flow().batchMax() && !repair.isEmpty(); i++) {
            takeRepair(repair.remove(), nowNs);
            work++;
        }
        if (accepted() > before) {
            life.onHeard();
        } else if (refused() > refusedBefore) {
            life.onNoticed();
        }
        credit();
        return work;
    }

    private void takeRepair(final MemorySegment datagram, final long nowNs) {
        final long before = machine.counts().repairedDatagrams();
        final long refusedBefore = placement.refused();
        placement.receiveRepair(datagram, machine, nowNs);
        if (placement.refused() > refusedBefore) {
            // What is missing of this frame waits for memory here, and for no NACK.
            life.onReported(
                    DataLayout.sequence(datagram, 0) - DataLayout.frameIndex(datagram, 0), (int) StreamInfo.slots(
                            DataLayout.frameBytes(datagram, 0),
                            world.options().stream().slotBytes()));
        }
        if (machine.counts().repairedDatagrams() > before
                && world.options().faults().isNone()) {
            world.tail().onRepaired(machine.acceptedSequence(), world.events().nowNs());
        }
    }

    private void credit() {
        if (machine.state() == State.RECEIVING) {
            machine.onCredit(placement.creditLimit(), process.nowNs());
        }
    }

    private long accepted() {
        return machine.verdicts().get(Verdict.GOOD)
                + machine.verdicts().get(Verdict.DUPLICATE)
                + machine.verdicts().get(Verdict.OVERRUN)
                + machine.verdicts().get(Verdict.EARLY);
    }

    // Of this session, and of no use.
    private long refused() {
        return machine.verdicts().get(Verdict.IMPOSSIBLE) + machine.verdicts().get(Verdict.INCONSISTENT);
    }

    private void deliver() {
        final SimOptions options = world.options();
        while (true) {
            machine.passOver(process.nowNs());
            final long bytes = machine.nextFrameBytes();
            final long first = machine.nextFrameSequence();
            final long slots = StreamInfo.slots(bytes, options.stream().slotBytes());
            if (bytes > 0
                    && (!isAnyWhole() || held >= options.flow().framesHeld() || !placement.canDeliver(first, slots))) {
                return;
            }
            final ReceivedFrame frame = machine.pollFrame();
            if (frame == null) {
                return;
            }
            take(frame, placement.deliver(first, slots), first, slots);
        }
    }

    private void take(final ReceivedFrame frame, final long handle, final long first, final long slots) {
        final List<FrameCheck.Held> parts = new ArrayList<>(1);
        if (frame.bundleFrames() == 0) {
            add(parts, frame, handle);
        } else {
            open(parts, frame, handle);
        }
        held++;
        free(plant.releasesOnDelivery(), handle, first, slots);
        final long untilNs = user.keepUntilNs(process.random(), world.events().nowNs());
        world.events().at(untilNs, () -> release(parts, handle, first, slots));
    }

    private void open(final List<FrameCheck.Held> parts, final ReceivedFrame frame, final long handle) {
        final int start = placement.offset(handle, frame.firstSequence(), 0);
        if (!bundle.open(MemorySegment.ofArray(placement.memory(handle)), start + frame.bytes(), frame)) {
            violation("bundle at " + frame.firstSequence() + " has an impossible table");
            return;
        }
        ReceivedFrame part = bundle.next();
        while (part != null) {
            add(parts, part, handle);
            part = bundle.next();
        }
    }

    private void add(final List<FrameCheck.Held> parts, final ReceivedFrame frame, final long handle) {
        final FrameCheck.Held one = frames.onFrame(frame, placement, handle);
        if (one != null) {
            frames.check(one, placement.memory(handle), "delivered");
            parts.add(one);
        }
    }

    // A user whose process stands still returns nothing.
    private void release(final List<FrameCheck.Held> parts, final long handle, final long first, final long slots) {
        if (process.isStopped()) {
            return;
        }
        if (process.isPaused()) {
            world.events().at(process.pausedUntilNs(), () -> release(parts, handle, first, slots));
            return;
        }
        for (final FrameCheck.Held part : parts) {
            frames.check(part, placement.memory(handle), "returned");
        }
        held--;
        free(plant.releasesOnReturn(), handle, first, slots);
        process.wakeAfter(0);
    }

    private void free(final int times, final long handle, final long first, final long slots) {
        for (int i = 0; i < times; i++) {
            placement.release(handle, first, slots);
        }
        credit();
    }

    @Override
    public long onGivenUp(final GivenUp givenUp) {
        frames.onGivenUp(givenUp);
        placement.skip(givenUp.firstSequence(), givenUp.endSequence());
        return placement.creditLimit();
    }

    @Override
    public MemorySegment control() {
        return scratch;
    }

    @Override
    public void sendControl(final int bytes) {
        if (isMeant()) {
            final MemorySegment datagram = copy(bytes);
            world.archive().offer(SimLane.CONTROL, address, datagram);
            world.network().toSource(address, datagram);
        }
    }

    @Override
    public boolean openLink(final LinkOffer offer) {
        return reach.open(offer);
    }

    @Override
    public boolean writeGrant(final long word) {
        return reach.write(word);
    }

    @Override
    public int pull(final long firstSequence, final int count) {
        final int taken = reach.pull(firstSequence, count);
        if (taken > 0) {
            life.onReported(firstSequence, taken);
        }
        return taken;
    }

    @Override
    public boolean makeSetLink() {
        return reach.makeSet();
    }

    @Override
    public byte @Nullable [] setLink() {
        return reach.setDescriptor();
    }

    @Override
    public boolean openSetLink(final LinkOffer offer) {
        return reach.openSet(offer);
    }

    @Override
    public void cutSetLink() {
        reach.cutSet();
    }

    @Override
    public int pullFromCoRoot(final long firstSequence, final int count) {
        final int taken = reach.pullFromSet(firstSequence, count);
        if (taken > 0) {
            life.onReported(firstSequence, taken);
        }
        return taken;
    }

    @Override
    public boolean connectCoRoot(final byte @Nullable [] controlAddress) {
        coRoot = controlAddress == null ? SimNetwork.SOURCE : SimCoRoot.address(controlAddress);
        return world.network().isAddress(coRoot);
    }

    @Override
    public void sendToCoRoot(final int bytes) {
        if (isMeant()) {
            world.tally().reports++;
            world.network().between(address, coRoot, SimLane.CONTROL, copy(bytes));
        }
    }

    private MemorySegment copy(final int bytes) {
        return MemorySegment.ofArray(scratch.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE));
    }

    // Notes what is said; whether it is said at all.
    private boolean isMeant() {
        final int type = ControlLayout.type(scratch, 0);
        if (type == ControlLayout.TYPE_NACK) {
            if (world.options().plant() == Plant.FORGET_NACK) {
                return false;
            }
            for (int i = 0; i < NackLayout.ranges(scratch, 0); i++) {
                life.onReported(NackLayout.first(scratch, 0, i), NackLayout.count(scratch, 0, i));
            }
            if (NackLayout.acknowledges(scratch, 0)) {
                frames.onAcknowledged(AckLayout.acknowledged(scratch, 0));
            }
        } else if (type == ControlLayout.TYPE_ACK) {
            plant.onAck(scratch);
            // An aggregate speaks of others too, and of more of them as they report.
            if (!AckLayout.isAggregate(scratch, 0)) {
                frames.onAcknowledged(AckLayout.acknowledged(scratch, 0));
            }
            if ((ControlLayout.flags(scratch, 0) & AckLayout.FLAG_COMPLETE) != 0) {
                life.onComplete();
            }
        }
        return true;
    }

    /// It is over; checked once.
    void conclude() {
        if (!concluded) {
            concluded = true;
            frames.conclude(isEnded());
            if (isEnded() && session.isClosed()) {
                violation("ended though its source closed within a frame");
            }
        }
    }

    /// What should have happened by now?
    void watch() {
        life.watch();
    }

    void violation(final String text) {
        world.violation("receiver " + address + ": " + text);
    }

    /// Why this receiver is not done, for the report.
    String describe() {
        return "receiver " + address + " is " + machine.state() + " at " + machine.acknowledgedSequence()
                + ", missing " + machine.missing() + ", granted " + machine.grantedSequence() + ", next frame at "
                + machine.nextFrameSequence() + ", holds " + held + ", placement credit " + placement.creditLimit();
    }
}
