package io.framecast.reliability.sim;

import io.framecast.reliability.BundleTable;
import io.framecast.reliability.GivenUp;
import io.framecast.reliability.ReceivedFrame;
import io.framecast.reliability.ReceiverConfig;
import io.framecast.reliability.ReceiverMachine;
import io.framecast.reliability.ReceiverMachine.State;
import io.framecast.reliability.ReceiverOutput;
import io.framecast.reliability.placement.FifoPlacement;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.HeartbeatLayout;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.LeaveLayout;
import io.framecast.reliability.wire.NackLayout;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Verdict;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Objects;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// One incarnation of a receiver: finds the source by its heartbeat, joins, checks every frame it is given,
/// and keeps frames for a while as a slow user does.
final class SimReceiver extends SimNode implements ReceiverOutput {
    /// A gap that stays open this long must have been reported.
    private static final long GAP_REPORT_MAX_NS = 100_000_000;

    private static final int UNSTARTED = -1;
    private static final int NOWHERE = -1;

    private final SimNetwork network;
    private final SimOptions options;
    private final SimFrames frames;
    private final SimJournal journal;
    private final Session session;
    private final long id;
    private final long consumerDelayMaxNs;
    private final Delivery delivery;
    private final MemorySegment scratch = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);
    private final HeaderChecksum checksum = new HeaderChecksum();
    private @Nullable ReceiverMachine machine;
    private @Nullable SimPlacement placement;
    private @Nullable BundleTable bundle;
    private int address;
    private int coRoot = NOWHERE;
    private State lastState = State.JOINING;
    private long expectedFrame = UNSTARTED;
    private int held;
    private long heardNs;
    private long gapSequence = -1;
    private long gapSinceNs;
    // By sequence − start: everything that a NACK ever spoke of.
    private final BitSet reported = new BitSet();
    private boolean left;
    private boolean evicted;
    private boolean sourceClosed;
    private boolean owed;
    private long deliveredBytes;
    private long givenUpFrames;
    private long sourceHeardNs;

    /// Where a run's parts meet.
    ///
    /// @param nonce the true session
    /// @param ghostNonce another session on the same channel, whose datagrams must be refused
    record Session(long nonce, long ghostNonce) {}

    /// What a receiver is made of.
    record World(SimEvents events, SimNetwork network, SimOptions options, SimFrames frames, SimJournal journal) {}

    SimReceiver(final World world, final RandomGenerator random, final Session session, final int queueDatagrams) {
        super(world.events, random, queueDatagrams);
        network = world.network;
        options = world.options;
        frames = world.frames;
        journal = world.journal;
        this.session = session;
        id = random.nextLong() | 1;
        final boolean slow = random.nextDouble() < options.chaos() / 2;
        consumerDelayMaxNs = slow ? 20_000_000 : 100_000;
        delivery = random.nextDouble() < options.audience().impatient() ? draw(random) : Delivery.RELIABLE;
    }

    private static Delivery draw(final RandomGenerator random) {
        return switch (random.nextInt(3)) {
            case 0 -> Delivery.deadline(1 + random.nextInt(60));
            case 1 -> Delivery.LATEST;
            default -> Delivery.evict(1 + random.nextInt(60));
        };
    }

    void address(final int value) {
        address = value;
        heardNs = nowNs();
    }

    long id() {
        return id;
    }

    boolean hasLeft() {
        return left;
    }

    long deliveredBytes() {
        return deliveredBytes;
    }

    /// Whether the source must respect this receiver's grant and acknowledgements.
    boolean isCounted() {
        final ReceiverMachine m = machine;
        return m != null && m.state() == State.RECEIVING && !evicted && !left && delivery.isWaitedFor();
    }

    long grantedSequence() {
        final ReceiverMachine m = machine;
        return m == null ? 0 : m.grantedSequence();
    }

    long acknowledgedSequence() {
        final ReceiverMachine m = machine;
        return m == null ? 0 : m.acknowledgedSequence();
    }

    State state() {
        final ReceiverMachine m = machine;
        return m == null ? State.JOINING : m.state();
    }

    boolean isFinished() {
        final ReceiverMachine m = machine;
        final boolean over = m == null ? sourceClosed : state() == State.ENDED || (isLost() && m.nextFrameBytes() == 0);
        return isStopped() || (over && held == 0);
    }

    /// The source says that it closes in the middle of its last frame.
    void sourceClosed() {
        owed = isCounted();
        sourceClosed = true;
        evicted = true;
    }

    /// Whether it lacks a whole frame that every member had acknowledged when the source closed.
    boolean isCheated() {
        return owed && !isStopped() && expectedFrame < frames.nextId() - 1;
    }

    boolean isLost() {
        return state() == State.LOST || state() == State.REFUSED;
    }

    boolean isEvicted() {
        return evicted;
    }

    /// The first frame this receiver must get, as the checker knows it.
    void started(final long firstFrame) {
        if (expectedFrame == UNSTARTED) {
            expectedFrame = firstFrame;
        }
    }

    boolean isToldStart() {
        return expectedFrame != UNSTARTED;
    }

    /// The source spoke this receiver's eviction.
    void evicted(final long heardBySourceNs, final long aliveTimeoutNs, final LeaveLayout.Reason reason) {
        if (reason == LeaveLayout.Reason.SILENT && nowNs() - heardBySourceNs <= aliveTimeoutNs) {
            violation("evicted though the source heard it " + (nowNs() - heardBySourceNs) / 1000 + " us ago");
        }
        if (reason == LeaveLayout.Reason.SLOW && delivery.kind() != Delivery.Kind.EVICT) {
            violation("evicted for being slow: " + delivery);
        }
        evicted = true;
    }

    void heardBySource() {
        sourceHeardNs = nowNs();
    }

    long sourceHeardNs() {
        return sourceHeardNs;
    }

    void leave() {
        final ReceiverMachine m = machine;
        if (m != null && !isStopped()) {
            m.leave();
        }
        left = true;
        stop();
    }

    @Override
    int cycle() {
        int work = 0;
        final ArrayDeque<MemorySegment> control = inbox(SimLane.CONTROL);
        while (!control.isEmpty()) {
            onControl(control.remove());
            work++;
        }
        final ReceiverMachine m = machine;
        final SimPlacement p = placement;
        if (m == null || p == null) {
            inbox(SimLane.DATA).clear();
            inbox(SimLane.REPAIR).clear();
            return work;
        }
        work += receive(m, p);
        if (m.nextDeadlineNs() <= nowNs()) {
            m.onTick(nowNs());
            if (m.nextDeadlineNs() <= nowNs()) {
                m.onTick(nowNs());
                if (m.nextDeadlineNs() <= nowNs()) {
                    violation("its deadline does not move: " + m.state());
                }
            }
        }
        deliver(m, p);
        check(m);
        return work;
    }

    @Override
    long nextDeadlineNs() {
        final ReceiverMachine m = machine;
        return m == null ? Long.MAX_VALUE : m.nextDeadlineNs();
    }

    private void onControl(final MemorySegment datagram) {
        final ReceiverMachine m = machine;
        if (m == null) {
            discover(datagram);
            return;
        }
        final boolean receiving = m.state() == State.RECEIVING;
        final Verdict verdict = m.onControl(datagram, 0, (int) datagram.byteSize(), nowNs());
        // Not what others report to it as their co-root: that is no sign of the source's life.
        final long to = datagram.byteSize() < ControlLayout.LENGTH ? 0 : ControlLayout.receiver(datagram, 0);
        if (to == 0 || to == id) {
            note(verdict);
        }
        final SimPlacement p = placement;
        if (!receiving && m.state() == State.RECEIVING && p != null) {
            p.start(m.startSequence());
        }
    }

    private void discover(final MemorySegment datagram) {
        final int bytes = (int) datagram.byteSize();
        if (ControlLayout.check(datagram, 0, bytes, checksum) != Verdict.GOOD
                || ControlLayout.type(datagram, 0) != ControlLayout.TYPE_HEARTBEAT
                || ControlLayout.session(datagram, 0) != session.nonce
                || !HeartbeatLayout.isValid(datagram, 0)) {
            return;
        }
        final StreamInfo stream = HeartbeatLayout.info(datagram, 0);
        final int ringSlots =
                (int) ReceiverConfig.ringSlotsMin(stream, options.flow().framesHeld())
                        + random().nextInt(2) * random().nextInt(64);
        final byte[] name = SimCoRoot.name(address);
        final ReceiverConfig config = new ReceiverConfig(
                stream,
                id,
                ringSlots,
                options.flow().receiveCapacity(),
                random().nextInt(8),
                delivery,
                new LaneAddresses(name, name),
                random().nextInt(3));
        final SimCoRoot serving = random().nextDouble() < 0.9 ? new SimCoRoot(network, stream, scratch, address) : null;
        final ReceiverMachine made = new ReceiverMachine(config, random(), this, serving);
        placement = place(made, ringSlots);
        bundle = new BundleTable(stream);
        machine = made;
        heardNs = nowNs();
        made.start(nowNs());
    }

    private SimPlacement place(final ReceiverMachine m, final int ringSlots) {
        final boolean mend = options.plant() != Plant.SKIP_MEND;
        if (random().nextDouble() < options.flow().fifo()) {
            final int mendBuffers = 1 + random().nextInt(SimOptions.MEND_BUFFERS_MAX);
            final FifoPlacement fifo = new FifoPlacement(ringSlots, mendBuffers, m.windowSlots());
            return new FifoMemory(fifo, options, ringSlots, mendBuffers, mend);
        }
        return new AimedMemory(
                random(),
                ringSlots,
                options.stream().slotBytes(),
                options.flow().batchMax(),
                mend);
    }

    private int receive(final ReceiverMachine m, final SimPlacement p) {
        final ArrayDeque<MemorySegment> data = inbox(SimLane.DATA);
        final ArrayDeque<MemorySegment> repair = inbox(SimLane.REPAIR);
        if (options.plant() == Plant.STALE_SESSION) {
            adoptGhosts(data);
        }
        if (options.plant() == Plant.NO_DUPLICATE_CHECK && !data.isEmpty()) {
            redeliver(data.peekFirst(), m);
        }
        final long before = accepted(m);
        int work = data.isEmpty() ? 0 : p.receiveData(data, m, nowNs());
        for (int i = 0; i < options.flow().batchMax() && !repair.isEmpty(); i++) {
            p.receiveRepair(repair.remove(), m, nowNs());
            work++;
        }
        if (accepted(m) > before) {
            heardNs = nowNs();
        }
        if (m.state() == State.RECEIVING) {
            m.onCredit(p.creditLimit(), nowNs());
        }
        return work;
    }

    private static long accepted(final ReceiverMachine m) {
        return m.verdicts().get(Verdict.GOOD)
                + m.verdicts().get(Verdict.DUPLICATE)
                + m.verdicts().get(Verdict.EARLY);
    }

    private void note(final Verdict verdict) {
        if (!verdict.isRejection()) {
            heardNs = nowNs();
        }
    }

    private void deliver(final ReceiverMachine m, final SimPlacement p) {
        while (true) {
            m.passOver(nowNs());
            final long bytes = m.nextFrameBytes();
            final long first = m.nextFrameSequence();
            final long slots = StreamInfo.slots(bytes, options.stream().slotBytes());
            if (bytes > 0 && (held >= options.flow().framesHeld() || !p.canDeliver(first, slots))) {
                return;
            }
            final ReceivedFrame frame = m.pollFrame();
            if (frame == null) {
                return;
            }
            final long handle = p.deliver(first, slots);
            if (frame.bundleFrames() == 0) {
                onFrame(frame, p, handle);
            } else {
                onBundle(frame, p, handle);
            }
            held++;
            final long delayNs = dwells() ? options.audience().dwellNs() : pauseNs();
            events().at(nowNs() + delayNs, () -> release(m, p, handle, first, slots));
            m.onCredit(p.creditLimit(), nowNs());
        }
    }

    private boolean dwells() {
        return options.audience().dwellNs() > 0 && delivery.kind() != Delivery.Kind.RELIABLE;
    }

    private long pauseNs() {
        return random().nextInt(4) == 0 ? random().nextLong(consumerDelayMaxNs) : 0;
    }

    private void release(
            final ReceiverMachine m, final SimPlacement p, final long handle, final long first, final long slots) {
        held--;
        p.release(handle, first, slots);
        if (m.state() == State.RECEIVING) {
            m.onCredit(p.creditLimit(), nowNs());
        }
        wakeAt(nowNs());
    }

    private void onBundle(final ReceivedFrame frame, final SimPlacement p, final long handle) {
        final BundleTable table = Objects.requireNonNull(bundle);
        final int start = p.offset(handle, frame.firstSequence(), 0);
        if (!table.open(MemorySegment.ofArray(p.memory(handle)), start + frame.bytes(), frame)) {
            violation("bundle at " + frame.firstSequence() + " has an impossible table");
            return;
        }
        ReceivedFrame part = table.next();
        while (part != null) {
            onFrame(part, p, handle);
            part = table.next();
        }
    }

    private void onFrame(final ReceivedFrame frame, final SimPlacement p, final long handle) {
        if (frame.frameId() != expectedFrame || !frames.contains(frame.frameId())) {
            violation("frame " + frame.frameId() + " delivered, expected " + expectedFrame);
            return;
        }
        expectedFrame++;
        journal.frame(nowNs(), address, frame.frameId());
        if (delivery.kind() == Delivery.Kind.RELIABLE) {
            journal.reliable(nowNs());
        }
        deliveredBytes += frame.bytes();
        final SimFrames.Frame truth = frames.get(frame.frameId());
        final byte[] metadata = frame.metadata();
        if (frame.bytes() != truth.bytes()
                || frame.firstSequence() != truth.firstSequence()
                || frame.flags() != truth.flags()
                || frame.timestampNs() != truth.timestampNs()
                || !java.util.Arrays.equals(metadata == null ? new byte[0] : metadata, truth.metadata())) {
            violation("frame " + frame.frameId() + " has other attributes than published");
            return;
        }
        checkBytes(truth, p, handle, frame.slotOffset());
    }

    @Override
    public long onGivenUp(final GivenUp givenUp) {
        final SimPlacement p = Objects.requireNonNull(placement);
        if (delivery.isWaitedFor()) {
            violation("gives up frame " + givenUp.firstFrameId() + " though it is waited for");
        }
        if (givenUp.firstFrameId() != expectedFrame || givenUp.frames() < 1) {
            violation("gives up " + givenUp.frames() + " frames from " + givenUp.firstFrameId() + ", expected "
                    + expectedFrame);
        }
        expectedFrame += options.plant() == Plant.FORGET_GIVEN_UP ? 0 : givenUp.frames();
        if (frames.firstSequence(expectedFrame) != givenUp.endSequence()) {
            violation("frame " + expectedFrame + " begins at " + frames.firstSequence(expectedFrame) + ", given up to "
                    + givenUp.endSequence());
        }
        givenUpFrames += givenUp.frames();
        journal.decide(nowNs(), address, givenUp.endSequence());
        p.skip(givenUp.firstSequence(), givenUp.endSequence());
        return p.creditLimit();
    }

    long givenUpFrames() {
        return givenUpFrames;
    }

    private void checkBytes(
            final SimFrames.Frame truth, final SimPlacement p, final long handle, final int slotOffset) {
        final byte[] memory = p.memory(handle);
        long at = 0;
        for (long index = 0; at < truth.bytes(); index++) {
            final int bytes = (int) Math.min(options.stream().slotBytes(), truth.bytes() - at);
            final int offset = p.offset(handle, truth.firstSequence(), index) + slotOffset;
            final int wrong = frames.mismatch(truth.id(), at, memory, offset, bytes);
            if (wrong >= 0) {
                violation("frame " + truth.id() + " has a wrong byte at " + (at + wrong));
                return;
            }
            at += bytes;
        }
    }

    private void check(final ReceiverMachine m) {
        if (m.state() != lastState) {
            lastState = m.state();
            journal.decide(nowNs(), address, lastState.ordinal());
            if (isLost() && !evicted && nowNs() - heardNs <= m.stream().aliveTimeoutNs()) {
                violation("gave the source up though it heard it: " + m.state() + " " + m.lostReason());
            }
        }
        if (m.state() != State.RECEIVING || m.missing() == 0) {
            gapSequence = -1;
            return;
        }
        if (gapSequence != m.acknowledgedSequence()) {
            gapSequence = m.acknowledgedSequence();
            gapSinceNs = nowNs();
        } else if (nowNs() - gapSinceNs > GAP_REPORT_MAX_NS && !reported.get((int) (gapSequence - m.startSequence()))) {
            violation("sequence " + gapSequence + " is missing and was not reported");
        }
    }

    @Override
    public MemorySegment control() {
        return scratch;
    }

    @Override
    public void sendControl(final int bytes) {
        if (ControlLayout.type(scratch, 0) == ControlLayout.TYPE_NACK) {
            if (options.plant() == Plant.FORGET_NACK) {
                return;
            }
            noteNack();
        }
        network.toSource(
                address, MemorySegment.ofArray(scratch.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE)));
    }

    @Override
    public boolean connectCoRoot(final byte @Nullable [] controlAddress) {
        coRoot = controlAddress == null ? NOWHERE : SimCoRoot.address(controlAddress);
        return network.isAddress(coRoot);
    }

    @Override
    public void sendToCoRoot(final int bytes) {
        if (ControlLayout.type(scratch, 0) == ControlLayout.TYPE_NACK) {
            noteNack();
        }
        final byte[] datagram = scratch.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE);
        network.between(address, coRoot, SimLane.CONTROL, MemorySegment.ofArray(datagram));
    }

    private void noteNack() {
        final ReceiverMachine m = machine;
        for (int i = 0; m != null && i < NackLayout.ranges(scratch, 0); i++) {
            final int from = (int) (NackLayout.first(scratch, 0, i) - m.startSequence());
            reported.set(from, from + NackLayout.count(scratch, 0, i));
        }
    }

    // Plant: a receiver that checks nothing but the checksum takes another session's datagrams for its own.
    private void adoptGhosts(final ArrayDeque<MemorySegment> data) {
        final int count = data.size();
        for (int i = 0; i < count; i++) {
            final MemorySegment datagram = data.remove();
            if (datagram.byteSize() > DataLayout.LENGTH && checksum.isSealed(datagram, 0, session.ghostNonce)) {
                datagram.set(ValueLayout.JAVA_INT_UNALIGNED, 8, DataLayout.sessionTag(session.nonce));
                checksum.seal(datagram, 0, session.nonce);
            }
            data.add(datagram);
        }
    }

    // Plant: a frame of one datagram that comes twice is delivered twice.
    private void redeliver(final MemorySegment datagram, final ReceiverMachine m) {
        if (m.state() != State.RECEIVING
                || datagram.byteSize() <= DataLayout.LENGTH
                || !checksum.isSealed(datagram, 0, session.nonce)) {
            return;
        }
        final long sequence = DataLayout.sequence(datagram, 0);
        final boolean whole =
                DataLayout.frameBytes(datagram, 0) <= options.stream().slotBytes();
        if (DataLayout.type(datagram, 0) == DataLayout.TYPE_DATA
                && whole
                && sequence >= m.startSequence()
                && sequence < m.nextFrameSequence()) {
            final long again = Integer.toUnsignedLong(DataLayout.frameId(datagram, 0));
            if (again != expectedFrame) {
                violation("frame " + again + " delivered, expected " + expectedFrame);
            }
        }
    }

    private void violation(final String text) {
        journal.violation(nowNs(), "receiver " + address + ": " + text);
    }

    /// Why this receiver is not done, for the report.
    String describe() {
        final ReceiverMachine m = machine;
        if (m == null) {
            return "receiver " + address + " never heard the source";
        }
        return "receiver " + address + " is " + m.state() + " at " + m.acknowledgedSequence() + ", missing "
                + m.missing()
                + ", granted " + m.grantedSequence() + ", next frame at " + m.nextFrameSequence() + ", holds " + held
                + ", placement credit " + (placement == null ? 0 : placement.creditLimit());
    }

    boolean gotEverything() {
        return expectedFrame == frames.nextId();
    }

    /// As a co-root.
    long reportsTaken() {
        final ReceiverMachine m = machine;
        return m == null ? 0 : m.counts().reportsTaken();
    }

    /// As a co-root.
    long repairsSent() {
        final ReceiverMachine m = machine;
        return m == null ? 0 : m.counts().repairsSent();
    }

    long repairsTaken() {
        final ReceiverMachine m = machine;
        return m == null ? 0 : m.counts().repairedDatagrams();
    }

    long framesInPlace() {
        final SimPlacement p = placement;
        return p == null ? 0 : p.framesInPlace();
    }
}
