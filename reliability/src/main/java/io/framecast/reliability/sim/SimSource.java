package io.framecast.reliability.sim;

import io.framecast.reliability.SenderConfig;
import io.framecast.reliability.SenderCounts;
import io.framecast.reliability.SenderMachine;
import io.framecast.reliability.SenderOutput;
import io.framecast.reliability.repair.RetransmitScheduler;
import io.framecast.reliability.window.SendWindow;
import io.framecast.reliability.wire.ControlIds;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.DataHeader;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.LeaveLayout;
import io.framecast.reliability.wire.LinkOffer;
import io.framecast.reliability.wire.StartLayout;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Verdict;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// The source's process: one session, its publisher and its sender, and the checks of what that sends and
/// frees.
final class SimSource extends SimNode implements SenderOutput {
    static final int ALIVE_TIMEOUT_MS = 400;
    static final long ALIVE_TIMEOUT_NS = ALIVE_TIMEOUT_MS * 1_000_000L;
    private static final int QUEUE_DATAGRAMS = 4096;

    private final SimWorld world;
    private final SimNetwork network;
    private final SimOptions options;
    private final SimSession session;
    private final SimPublisher publisher;
    private final SendWindow window;
    private final SenderMachine machine;
    private final SimJam jam;
    private final PlantedSource plant;
    private final int[] addresses;
    private final SimMemory memory;
    private final MemorySegment scratch = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);
    private final HeaderChecksum checksum = new HeaderChecksum();
    private final boolean restless;
    // By the true clock.
    private long sendFreeNs;
    private boolean closed;
    private long joiningTaken;
    private long joiningTold;

    /// @param beginNs when publishing begins, by the true clock
    SimSource(final SimHost host, final RandomGenerator random, final long beginNs) {
        super(host, random, QUEUE_DATAGRAMS);
        world = host.world();
        network = world.network();
        options = world.options();
        restless = options.faults().unrest() > 0;
        session = world.open(clock(), host.epochOffsetNs());
        jam = new SimJam(restless, random);
        publisher = new SimPublisher(world, session, random, beginNs);
        window = publisher.window();
        plant = new PlantedSource(this, options.plant());
        addresses = new int[Math.max(4, 2 * options.receivers())];
        memory = new SimMemory(this, world, random, addresses.length);
        final StreamInfo stream = new StreamInfo(
                session.nonce(),
                "sim",
                options.stream().slotBytes(),
                options.stream().windowSlots(),
                options.stream().frameMaxBytes(),
                plant.aliveTimeoutMs(),
                new byte[] {1},
                new byte[] {2});
        final SenderConfig config = new SenderConfig(
                stream,
                addresses.length,
                session.epochOffsetNs(),
                options.audience().coRoots());
        machine = new SenderMachine(config, window, random, this);
        wakeAfter(0);
        events().at(beginNs, () -> {
            joiningTaken = taken();
            joiningTold = told();
        });
    }

    private long taken() {
        final SenderCounts counts = machine.counts();
        return counts.acks() + counts.nacks() + counts.frameRequests();
    }

    private long told() {
        return machine.counts().heartbeats() + machine.counts().instructions();
    }

    SimSession session() {
        return session;
    }

    SenderMachine machine() {
        return machine;
    }

    /// Whether nothing more can come of it: all is acknowledged by all, or it closed in the middle of a
    /// frame.
    boolean isDrained() {
        return publisher.isEnded() && (closed || machine.isDrained());
    }

    @Override
    int cycle() {
        if (closed) {
            inbox().clear();
            return 0;
        }
        int work = 0;
        while (!inbox().isEmpty()) {
            onControl(inbox().remove());
            work++;
        }
        plant.onCycle();
        machine.onCycle(nowNs());
        memory.poll(machine);
        machine.onWritten();
        free();
        publisher.publish(machine, nowNs());
        pass();
        work += send();
        if (machine.nextDeadlineNs() <= nowNs()) {
            machine.onTick(nowNs());
        }
        check();
        if (publisher.isTorn() && machine.isSettled()) {
            goodbye();
        }
        return work;
    }

    private void goodbye() {
        if (machine.isDrained()) {
            violation("is drained though it ended within a frame");
        }
        closed = true;
        session.close();
        machine.close();
    }

    private void onControl(final MemorySegment datagram) {
        final int bytes = (int) datagram.byteSize();
        final long id = bytes >= ControlLayout.LENGTH ? ControlLayout.receiver(datagram, 0) : 0;
        final Verdict verdict = machine.onControl(datagram, 0, bytes, nowNs());
        final SimReception reception = session.reception(id);
        if (reception != null && ControlLayout.check(datagram, 0, bytes, checksum) == Verdict.GOOD) {
            if (verdict == Verdict.GOOD) {
                reception.life().onHeardBySource(nowNs());
                plant.onHeard(id, datagram);
            } else if (verdict == Verdict.IMPOSSIBLE || verdict == Verdict.LIMITED) {
                reception.life().onNoticedBySource();
            }
        }
        world.journal().decide(events().nowNs(), id, verdict.ordinal());
    }

    private void free() {
        final long to = options.plant() == Plant.REUSE_UNACKED_SLOT ? machine.nextSequence() : machine.releasable();
        for (final SimReception receiver : session.counted()) {
            if (receiver.isCounted() && to > receiver.machine().acknowledgedSequence()) {
                violation("frees up to " + to + ", acknowledged is "
                        + receiver.machine().acknowledgedSequence());
            }
        }
        window.free(options.plant() == Plant.REUSE_FED_SLOT ? to : memory.freeable(to));
    }

    private int send() {
        if (events().nowNs() < sendFreeNs) {
            return 0;
        }
        if (machine.isHungry()) {
            window.takeBundle();
        }
        final int allowed = options.plant() == Plant.IGNORE_CREDIT
                ? (int) (window.committed() - machine.nextSequence())
                : machine.sendable();
        final int count = Math.min(allowed, options.flow().batchMax());
        if (count == 0) {
            return 0;
        }
        final long first = machine.nextSequence();
        for (final SimReception receiver : session.counted()) {
            if (receiver.isCounted() && first + count > receiver.machine().grantedSequence()) {
                violation("sends up to " + (first + count) + ", a member granted "
                        + receiver.machine().grantedSequence());
            }
        }
        if (machine.isGuarded()) {
            window.seal(first, count);
        }
        machine.announceMetadata(count);
        for (int i = 0; i < count; i++) {
            jam.add(publisher.datagram(first + i));
        }
        machine.onSent(count, nowNs());
        pass();
        sendFreeNs = events().nowNs() + count * options.flow().datagramNs();
        world.journal().decide(events().nowNs(), first, count);
        return count;
    }

    // What the transport takes, which may be nothing for a while.
    private void pass() {
        while (!jam.isEmpty() && !jam.isShut(events().nowNs())) {
            final MemorySegment datagram = jam.remove();
            multicast(SimLane.DATA, datagram);
            if (!restless) {
                world.tail().onSent(events().nowNs());
            }
            haunt(datagram);
        }
        machine.onWaiting(jam.size(), nowNs());
    }

    private void multicast(final SimLane lane, final MemorySegment datagram) {
        world.tally().wireBytes += datagram.byteSize();
        world.archive().offer(lane, SimNetwork.SOURCE, datagram);
        network.multicast(lane, datagram);
    }

    private void unicast(final int member, final SimLane lane, final MemorySegment datagram) {
        world.tally().wireBytes += datagram.byteSize();
        world.archive().offer(lane, SimNetwork.SOURCE, datagram);
        network.unicast(addresses[member], lane, datagram);
    }

    // Another session's datagram, with a plausible header and other payload.
    private void haunt(final MemorySegment datagram) {
        if (!restless || random().nextInt(16) != 0) {
            return;
        }
        final byte[] bytes = datagram.toArray(ValueLayout.JAVA_BYTE);
        for (int i = DataLayout.LENGTH; i < bytes.length; i++) {
            bytes[i] ^= (byte) 0x5a;
        }
        final MemorySegment ghost = MemorySegment.ofArray(bytes);
        ghost.set(ValueLayout.JAVA_INT_UNALIGNED, 8, DataLayout.sessionTag(session.ghostNonce()));
        ghost.set(ValueLayout.JAVA_LONG_UNALIGNED, 16, DataLayout.sequence(ghost, 0) + random().nextInt(3));
        checksum.seal(ghost, 0, session.ghostNonce());
        network.multicast(SimLane.DATA, ghost);
        final MemorySegment end = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);
        final int length =
                LeaveLayout.writeEvict(end, new ControlIds(session.ghostNonce()), LeaveLayout.Reason.CLOSED, checksum);
        network.multicast(SimLane.CONTROL, end.asSlice(0, length));
    }

    @Override
    long nextDeadlineNs() {
        if (closed) {
            return Long.MAX_VALUE;
        }
        long deadline = machine.nextDeadlineNs();
        if (!jam.isEmpty()) {
            deadline = Math.min(deadline, clock().at(jam.untilNs()));
        }
        if (machine.sendable() > 0 || (machine.isHungry() && window.hasBundle())) {
            deadline = Math.min(deadline, clock().at(sendFreeNs));
        }
        final long frameNs = publisher.nextFrameNs();
        return frameNs == Long.MAX_VALUE ? deadline : Math.min(deadline, clock().at(frameNs));
    }

    private void check() {
        final long held = window.committed() - window.freed();
        if (held >= window.slots() || machine.nextSequence() > window.committed()) {
            violation("window holds " + held + " of " + window.slots());
        }
    }

    /// From time to time: it must have noticed who fell silent.
    void watch() {
        session.prune();
        for (final SimReception receiver : session.counted()) {
            receiver.life().watchFromSource(pausedUntilNs());
        }
    }

    @Override
    public int repair(final int member, final long firstSequence, final int count) {
        if (restless && random().nextInt(16) == 0) {
            return random().nextInt(count);
        }
        for (int i = 0; i < count; i++) {
            if (firstSequence + i < window.freed() || firstSequence + i >= machine.nextSequence()) {
                violation("repairs " + (firstSequence + i) + ", which it does not hold");
            }
            final MemorySegment datagram = publisher.datagram(firstSequence + i);
            for (int times = plant.repairTimes(); times > 0; times--) {
                world.tally().repairs++;
                if (member == RetransmitScheduler.EVERYBODY) {
                    multicast(SimLane.REPAIR, datagram);
                } else {
                    unicast(member, SimLane.REPAIR, datagram);
                }
            }
        }
        return count;
    }

    @Override
    public MemorySegment control() {
        return scratch;
    }

    @Override
    public void multicastControl(final int bytes) {
        noteEviction();
        multicast(SimLane.CONTROL, plant.onHeartbeat(copy(bytes)));
    }

    @Override
    public void sendControl(final int member, final int bytes) {
        noteEviction();
        if (ControlLayout.type(scratch, 0) == ControlLayout.TYPE_START) {
            noteStart(bytes);
        }
        unicast(member, SimLane.CONTROL, copy(bytes));
    }

    private @Nullable SimReception addressee() {
        return session.reception(ControlLayout.receiver(scratch, 0));
    }

    private void noteEviction() {
        if (ControlLayout.type(scratch, 0) == ControlLayout.TYPE_EVICT) {
            final SimReception receiver = addressee();
            if (receiver != null) {
                receiver.life().onEvicted(nowNs(), ALIVE_TIMEOUT_NS, LeaveLayout.reason(scratch, 0));
            }
        }
    }

    // The first frame that begins at or after what is sent next: the checker's own opinion of where a member
    // starts.
    private void noteStart(final int bytes) {
        final long first = StartLayout.firstSequence(scratch, 0);
        final long frameId = StartLayout.firstFrameId(scratch, 0);
        final SimReception receiver = addressee();
        if (receiver != null && !receiver.frames().isStarted()) {
            final SimFrames frames = session.frames();
            final long truth = frames.idFrom(machine.nextSequence());
            if (frameId != truth || first != frames.firstSequence(truth)) {
                violation("starts a member at frame " + frameId + ", sequence " + first + "; expected frame " + truth
                        + ", sequence " + frames.firstSequence(truth));
            }
            receiver.frames().start(truth);
        }
        if (options.plant() == Plant.WRONG_FRAME_BOUNDARY) {
            final ControlIds ids = new ControlIds(session.nonce()).receiver(ControlLayout.receiver(scratch, 0));
            if (StartLayout.write(scratch, ids, first + 1, frameId, checksum) != bytes) {
                throw new IllegalStateException("START changed its length");
            }
        }
    }

    private MemorySegment copy(final int bytes) {
        return MemorySegment.ofArray(scratch.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE));
    }

    @Override
    public void probe(final int token) {
        final byte[] bytes = new byte[DataLayout.LENGTH + options.stream().slotBytes()];
        final MemorySegment probe = MemorySegment.ofArray(bytes);
        final DataHeader header =
                new DataHeader().session(DataLayout.TYPE_PROBE, session.nonce()).frame(0, 0, nowNs());
        DataLayout.write(probe, 0, header, 0, token);
        checksum.seal(probe, 0, session.nonce());
        world.archive().offer(SimLane.DATA, SimNetwork.SOURCE, probe);
        network.multicast(SimLane.DATA, probe);
    }

    @Override
    public boolean connect(final int member, final byte[] controlAddress, final byte[] repairAddress) {
        final int address =
                controlAddress.length == 2 ? ((controlAddress[0] & 0xff) << 8) | (controlAddress[1] & 0xff) : -1;
        if (!network.isAddress(address)) {
            return false;
        }
        addresses[member] = address;
        return true;
    }

    @Override
    public void disconnect(final int member) {
        addresses[member] = 0;
    }

    @Override
    public boolean link(final int member, final byte[] descriptor) {
        memory.accept(member);
        return true;
    }

    @Override
    public @Nullable LinkOffer linkOffer(final int member) {
        return memory.offer(member);
    }

    @Override
    public boolean openFeed(final int member, final LinkOffer copy, final int epoch, final long first) {
        return memory.openFeed(member, copy, epoch, first);
    }

    @Override
    public int feed(final int member, final long firstSequence, final int count) {
        return memory.feed(member, firstSequence, count);
    }

    @Override
    public void unlink(final int member) {
        memory.cut(member);
    }

    /// A sequence's slot as it is now, header and whole payload.
    MemorySegment slot(final long sequence) {
        return publisher.slot(sequence);
    }

    /// What vouches for that.
    long guard(final long sequence) {
        return publisher.guard(sequence);
    }

    /// Somebody reads this sequence's slot on the source's behalf.
    void checkHeld(final long sequence) {
        if (sequence < window.freed()) {
            violation("uses slot of " + sequence + " again, which is being written to a co-root");
        }
    }

    private void violation(final String text) {
        world.violation("source: " + text);
    }

    /// What it did is added to the run's sums, once.
    @Override
    void conclude() {
        world.tally().evictions += machine.counts().evictions();
        final SenderCounts counts = machine.counts();
        final SimTally tally = world.tally();
        tally.timeouts += counts.timeouts();
        tally.fed += counts.fedDatagrams();
        tally.failovers += counts.failovers();
        tally.aggregates += counts.aggregates();
        tally.sentDatagrams += counts.sentDatagrams();
        tally.controlTaken += taken() - joiningTaken;
        tally.controlTold += told() - joiningTold;
    }

    /// Why the source is not done, for the report.
    String describe() {
        return "source sent " + machine.nextSequence() + " of " + window.committed() + ", released "
                + machine.releasable() + ", granted " + machine.grantedSequence() + ", members "
                + machine.readyMembers();
    }
}
