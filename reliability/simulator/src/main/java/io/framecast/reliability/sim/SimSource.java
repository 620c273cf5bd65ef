package io.framecast.reliability.sim;

import io.framecast.reliability.lane.ControlPort;
import io.framecast.reliability.lane.SendLanePort;
import io.framecast.reliability.lane.SendPorts;
import io.framecast.reliability.onesided.MemberEndpoints;
import io.framecast.reliability.send.CoRootConfig;
import io.framecast.reliability.send.SenderConfig;
import io.framecast.reliability.send.SenderCount;
import io.framecast.reliability.send.SenderMachine;
import io.framecast.reliability.session.SendPacer;
import io.framecast.reliability.session.SendSession;
import io.framecast.reliability.sim.net.Forgery;
import io.framecast.reliability.sim.net.SimLane;
import io.framecast.reliability.sim.plan.SimOptions;
import io.framecast.reliability.sim.record.SimCount;
import io.framecast.reliability.sim.record.SimFrames;
import io.framecast.reliability.sim.record.SimJournal;
import io.framecast.reliability.sim.secure.SecureRun;
import io.framecast.reliability.sim.secure.SecureSource;
import io.framecast.reliability.window.SendWindow;
import io.framecast.reliability.window.WindowMemory;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.LeaveLayout;
import io.framecast.reliability.wire.StartLayout;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Verdict;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// The source's process: the lanes and memory of one [SendSession], its publisher, and the checks of its
/// datagrams and freed slots.
final class SimSource extends SimNode implements ControlPort {
    static final int ALIVE_TIMEOUT_MS = 400;
    static final long ALIVE_TIMEOUT_NS = ALIVE_TIMEOUT_MS * 1_000_000L;
    static final byte[] CONTROL_ADDRESS = {1};
    private static final int QUEUE_DATAGRAMS = 4096;

    private final SimNetwork network;
    private final SimOptions options;
    private final SimSession life;
    private final SimPublisher publisher;
    private final SendWindow window;
    private final WindowMemory memory;
    private final SendSession session;
    private final SenderMachine machine;
    private final SimSendLane data;
    private final PlantedSource plant;
    private final MemorySegment scratch = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);
    private final HeaderChecksum checksum = new HeaderChecksum();
    private final boolean restless;
    private boolean closed;
    private final @Nullable SecureSource secure;
    private final SimFaults.@Nullable Rekeys rekeys;
    private long joiningTaken;
    private long joiningSent;

    /// @param beginNs time at which publishing begins, by the true clock
    SimSource(final SimHost host, final RandomGenerator random, final long beginNs) {
        super(host, random, QUEUE_DATAGRAMS);
        network = world().network();
        options = world().options();
        restless = options.faults().unrest() > 0;
        life = world().open(clock(), host.epochOffsetNs());
        publisher = new SimPublisher(world(), life, random, beginNs);
        window = publisher.window();
        memory = publisher.memory();
        secure = protect();
        rekeys = secure == null ? null : new SimFaults.Rekeys(this, secure);
        plant = new PlantedSource(this, options.plant());
        final int members = Math.max(4, 2 * options.receivers());
        final CoRootConfig coRoots = options.audience().coRoots();
        final MemberEndpoints endpoints = options.audience().oneSided() == 0
                ? null
                : MemberEndpoints.open(new SimOneSided(this, null), memory, members, "sim", _ -> {});
        data = new SimSendLane(
                this,
                SimLane.DATA,
                memory,
                publisher.loans(),
                random,
                options.flow().datagramNs());
        final SimSendLane repair = new SimSendLane(this, SimLane.REPAIR, memory, publisher.loans(), random, 0);
        session = new SendSession(
                new SenderConfig(stream(), members, life.epochOffsetNs(), coRoots),
                window,
                new SendPacer(0),
                new SendPorts(this, data, repair),
                endpoints,
                random);
        machine = session.machine();
        wakeAfter(0);
        events().at(beginNs, () -> {
            joiningTaken = taken();
            joiningSent = sent();
        });
    }

    private StreamInfo stream() {
        return new StreamInfo(
                life.nonce(),
                "sim",
                options.stream().slotBytes(),
                options.stream().windowSlots(),
                options.stream().frameMaxBytes(),
                plant.aliveTimeoutMs(),
                CONTROL_ADDRESS,
                new byte[] {2},
                world().seal());
    }

    private @Nullable SecureSource protect() {
        final SecureRun protection = world().secure();
        if (protection == null) {
            return null;
        }
        final SecureSource made = protection.source(
                life.nonce(), options.receivers(), (address, datagram, _) -> shake(address, datagram));
        window.sealedBy(made.data());
        made.useBehind(window::freed, () -> session.pauseUntilSent(), window::sealed);
        return made;
    }

    private void shake(final byte[] address, final MemorySegment datagram) {
        final int to = address(address);
        if (to != SendLanePort.NO_PEER) {
            unicast(to, SimLane.CONTROL, datagram);
        }
    }

    private long taken() {
        final Counts<SenderCount> counts = machine.counts();
        return counts.get(SenderCount.ACKS) + counts.get(SenderCount.NACKS) + counts.get(SenderCount.FRAME_REQUESTS);
    }

    private long sent() {
        return machine.counts().get(SenderCount.HEARTBEATS) + machine.counts().get(SenderCount.INSTRUCTIONS);
    }

    /// This life of the source.
    SimSession life() {
        return life;
    }

    SendSession session() {
        return session;
    }

    /// Whether it closed in the middle of a frame.
    boolean isClosed() {
        return closed;
    }

    /// Slots of the window.
    int slots() {
        return window.slots();
    }

    /// Whether the source has finished: all members acknowledged everything, or it closed in the middle of a
    /// frame.
    boolean isDrained() {
        return publisher.isEnded() && (closed || session.isDrained());
    }

    @Override
    int cycle() {
        if (closed) {
            inbox().clear();
            return 0;
        }
        int work = secure == null ? 0 : secure.doWork(nowNs());
        while (!inbox().isEmpty()) {
            final MemorySegment arrived = inbox().remove();
            final MemorySegment plain = secure == null ? arrived : secure.open(arrived, nowNs());
            if (plain != null) {
                onControl(plain);
            }
            work++;
        }
        if (secure != null && secure.onCycle(window.sealed())) {
            machine.announce(nowNs());
        }
        plant.onCycle();
        data.pass();
        session.onClaimBlocked(window.freeSlots() < publisher.refusedSlots());
        work += session.doWork(nowNs());
        check();
        publisher.publish();
        if (machine.sendable() > 0) {
            // An agent that found work begins its next cycle at once.
            work += session.doWork(nowNs());
            check();
        }
        if (publisher.isEnded() && (publisher.endsMidFrame() || !isAwaiting())) {
            life.end();
            session.end();
        }
        if (publisher.endsMidFrame() && session.isSettled()) {
            goodbye();
        }
        if (rekeys != null) {
            rekeys.evictStrangers();
        }
        return work;
    }

    // Whether receivers run that are no members, and its publisher ends the stream for all only.
    private boolean isAwaiting() {
        if (life.isEnding() || !life.waitsForAll(options.faults().isNone())) {
            return false;
        }
        for (final SimHost host : network.hosts()) {
            if (host.process() instanceof final SimReceiver receiver && !receiver.attends(life)) {
                return true;
            }
        }
        return false;
    }

    private void goodbye() {
        if (machine.isDrained()) {
            violation("is drained though it ended within a frame");
        }
        closed = true;
        life.close();
        session.leave();
    }

    private void onControl(final MemorySegment datagram) {
        final int bytes = (int) datagram.byteSize();
        final long id = bytes >= ControlLayout.LENGTH ? ControlLayout.RECEIVER.get(datagram, 0) : 0;
        final MemorySegment shown = plant.onControl(datagram);
        final Verdict verdict = machine.onControl(shown, 0, (int) shown.byteSize(), nowNs());
        final SimReception reception = life.reception(id);
        if (reception != null && ControlLayout.check(datagram, 0, bytes, checksum) == Verdict.GOOD) {
            if (verdict == Verdict.GOOD) {
                reception.life().onHeardBySource(nowNs());
                if (ControlLayout.type(datagram, 0) == ControlLayout.TYPE_READY) {
                    reception.life().onProven();
                }
                plant.onHeard(id, datagram);
            } else if (ControlLayout.type(datagram, 0) == ControlLayout.TYPE_RESUME && verdict != Verdict.LIMITED) {
                reception.onRefused();
            } else if (LifeCheck.isSign(verdict, ControlLayout.type(datagram, 0))) {
                reception.life().onNoticedBySource();
            }
        }
        world().journal().decide(events().nowNs(), id, verdict.ordinal());
    }

    /// The injected bug answers a RESUME.
    void admit(final SimReception successor) {
        successor.onMoved(machine.nextSequence());
        final MemorySegment start = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);
        final ControlWriter ids = new ControlWriter(life.nonce()).receiver(successor.id());
        unicast(successor.address(), SimLane.CONTROL, start.asSlice(0, StartLayout.write(ids.in(start), 0, 0, 0)));
    }

    private void check() {
        for (final SimReception receiver : life.counted()) {
            if (receiver.isCounted() && window.freed() > receiver.machine().acknowledgedSequence()) {
                violation("frees up to " + window.freed() + ", acknowledged is "
                        + receiver.machine().acknowledgedSequence());
            }
        }
        final long held = window.committed() - window.freed();
        if (held >= window.slots() || machine.nextSequence() > window.committed()) {
            violation("window holds " + held + " of " + window.slots());
        }
    }

    @Override
    long nextDeadlineNs() {
        if (closed) {
            return Long.MAX_VALUE;
        }
        long deadline = Math.min(session.nextDeadlineNs(), at(data.passNs()));
        deadline = secure == null ? deadline : Math.min(deadline, secure.nextDeadlineNs());
        if (machine.sendable() > 0 || (machine.canFlushBundle() && window.hasBundle())) {
            deadline = Math.min(deadline, at(data.freeNs()));
        }
        return Math.min(deadline, at(publisher.nextFrameNs()));
    }

    private long at(final long trueNs) {
        return trueNs == Long.MAX_VALUE ? trueNs : clock().at(trueNs);
    }

    /// Checks from time to time that the source noticed silent members.
    void watch() {
        life.prune();
        for (final SimReception receiver : life.counted()) {
            receiver.life().watchFromSource(pausedUntilNs());
        }
    }

    /// A lane took slots of the window.
    void onSubmitted(final SimLane lane, final int firstSlot, final int count) {
        if (count == 0 || firstSlot == window.slots()) {
            return;
        }
        final long first = DataLayout.SEQUENCE.get(memory.headers(), memory.headerOffset(firstSlot));
        if (lane == SimLane.REPAIR) {
            if (first < window.freed() || first + count > machine.nextSequence()) {
                violation("repairs " + first + " and " + (count - 1) + " behind it, which it does not hold");
            }
            return;
        }
        for (final SimReception receiver : life.counted()) {
            if (receiver.isCounted() && first + count > receiver.machine().grantedSequence()) {
                violation("sends up to " + (first + count) + ", a member granted "
                        + receiver.machine().grantedSequence());
            }
        }
        world().journal().decide(events().nowNs(), first, count);
    }

    /// A lane sends a datagram to the group.
    void multicast(final SimLane lane, final MemorySegment datagram) {
        send(lane, datagram, () -> network.multicast(lane, datagram));
        if (lane == SimLane.DATA && DataLayout.type(datagram, 0) == DataLayout.TYPE_DATA) {
            if (!restless) {
                world().tail().onSent(events().nowNs());
            }
            forge(datagram);
        }
    }

    /// A multicast datagram waited so long for its lane that a receiver with later ones, by unicast, requests it.
    void onLate() {
        world().journal()
                .count(
                        SimCount.LOSSES,
                        network.hosts().stream().filter(SimHost::listens).count());
    }

    /// A lane sends a datagram to one receiver.
    void unicast(final int address, final SimLane lane, final MemorySegment datagram) {
        send(lane, datagram, () -> network.unicast(address, lane, datagram));
    }

    private void send(final SimLane lane, final MemorySegment datagram, final Runnable carrier) {
        final int times = lane == SimLane.REPAIR ? plant.repairTimes() : 1;
        if (lane != SimLane.CONTROL) {
            plant.onData(datagram);
        }
        world().journal().count(SimCount.REPAIRS, lane == SimLane.REPAIR ? times : 0);
        for (int i = 0; i < times; i++) {
            world().journal().count(SimCount.WIRE_BYTES, datagram.byteSize());
            world().archive().offer(lane, SimNetwork.SOURCE, datagram);
            carrier.run();
        }
    }

    // Another session's datagram, with a plausible header and other payload.
    private void forge(final MemorySegment datagram) {
        if (!restless || random().nextInt(16) != 0) {
            return;
        }
        final int ahead = random().nextInt(3);
        network.multicast(SimLane.DATA, Forgery.ofSession(datagram, memory.headerBytes(), life.ghostNonce(), ahead));
        final MemorySegment end = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);
        final int length =
                LeaveLayout.writeEvict(new ControlWriter(life.ghostNonce()).in(end), LeaveLayout.Reason.CLOSED);
        network.multicast(SimLane.CONTROL, end.asSlice(0, length));
    }

    @Override
    public MemorySegment slot() {
        return scratch;
    }

    @Override
    public void multicast(final int bytes) {
        noteEviction();
        final MemorySegment plain = plant.onHeartbeat(copy(bytes));
        final MemorySegment datagram = secure == null ? plain : secure.toGroup(plain);
        if (datagram != null) {
            multicast(SimLane.CONTROL, datagram);
        }
    }

    @Override
    public void unicast(final int peer, final int bytes) {
        noteEviction();
        switch (ControlLayout.type(scratch, 0)) {
            case ControlLayout.TYPE_ADMIT -> noteMove();
            case ControlLayout.TYPE_START -> noteStart(bytes);
            default -> {}
        }
        final MemorySegment datagram = secure == null ? copy(bytes) : secure.toPeer(copy(bytes));
        if (datagram != null) {
            unicast(peer, SimLane.CONTROL, datagram);
        }
    }

    @Override
    public boolean isOneHost(final LaneAddresses addresses) {
        return Arrays.equals(addresses.control(), addresses.repair());
    }

    @Override
    public int connect(final byte[] address) {
        return address(address);
    }

    /// The number of a receiver's host.
    int address(final byte[] name) {
        final int address = SimNetwork.number(name);
        return network.isAddress(address) ? address : SendLanePort.NO_PEER;
    }

    @Override
    public void disconnect(final int peer) {
        // The source keeps no state of peers.
    }

    private @Nullable SimReception addressee() {
        return life.reception(ControlLayout.RECEIVER.get(scratch, 0));
    }

    private void noteEviction() {
        if (ControlLayout.type(scratch, 0) == ControlLayout.TYPE_EVICT) {
            final SimReception receiver = addressee();
            if (receiver != null) {
                receiver.onEvicted(nowNs(), ALIVE_TIMEOUT_NS, LeaveLayout.reason(scratch, 0));
                if (rekeys != null) {
                    rekeys.onEvict(receiver);
                }
            }
        }
    }

    // ADMIT of a successor: the membership is its own from here on.
    private void noteMove() {
        final SimReception receiver = addressee();
        if (receiver != null && receiver.isResumed()) {
            receiver.onMoved(machine.nextSequence());
        }
    }

    // The first frame that begins at or after the next sequence to send: the checker's own computation of a
    // member's start.
    private void noteStart(final int bytes) {
        final long first = StartLayout.FIRST_SEQUENCE.get(scratch, 0);
        final long frameId = StartLayout.FIRST_FRAME_ID.get(scratch, 0);
        final SimReception receiver = addressee();
        if (receiver != null && receiver.isResumed()) {
            receiver.onMoved(machine.nextSequence());
        } else if (receiver != null && !receiver.frames().isStarted()) {
            final SimFrames frames = life.frames();
            final long truth = frames.idFrom(machine.nextSequence());
            if (frameId != truth || first != frames.firstSequence(truth)) {
                violation("starts a member at frame " + frameId + ", sequence " + first + "; expected frame " + truth
                        + ", sequence " + frames.firstSequence(truth));
            }
            receiver.frames().start(truth);
            receiver.life().onCounted();
        }
        plant.onStart(scratch, bytes);
    }

    private MemorySegment copy(final int bytes) {
        return MemorySegment.ofArray(scratch.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE));
    }

    private void violation(final String text) {
        world().violation("source: " + text);
    }

    /// Adds its counters to the run's sums, once.
    @Override
    void conclude() {
        final SimJournal journal = world().journal();
        journal.add(machine.counts());
        // A datagram that waits here when this process is killed may have been written into a co-root's replica.
        journal.count(SimCount.LOSSES, data.waiting());
        journal.count(SimCount.TAKEN, taken() - joiningTaken);
        journal.count(SimCount.ANNOUNCED, sent() - joiningSent);
    }

    /// The reason why the source has not finished, for the report.
    String describe() {
        return "source sent " + machine.nextSequence() + " of " + window.committed() + ", released "
                + machine.releasable() + ", granted " + machine.grantedSequence() + ", members "
                + machine.readyMembers();
    }
}
