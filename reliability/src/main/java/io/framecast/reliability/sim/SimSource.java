package io.framecast.reliability.sim;

import io.framecast.reliability.SenderConfig;
import io.framecast.reliability.SenderCounts;
import io.framecast.reliability.SenderMachine;
import io.framecast.reliability.SenderOutput;
import io.framecast.reliability.window.SendWindow;
import io.framecast.reliability.window.SmallFrames;
import io.framecast.reliability.wire.BundleLayout;
import io.framecast.reliability.wire.ControlIds;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.DataHeader;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.LeaveLayout;
import io.framecast.reliability.wire.StartLayout;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Verdict;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.List;
import java.util.random.RandomGenerator;

/// The source of a run: a publisher that commits frames in parts as space frees, and a sender.
final class SimSource extends SimNode implements SenderOutput {
    static final int ALIVE_TIMEOUT_MS = 400;
    private static final int METADATA_BYTES_MAX = 40;

    private final SimNetwork network;
    private final SimOptions options;
    private final SimFrames frames;
    private final SimJournal journal;
    private final SimReceiver.Session session;
    private final List<SimReceiver> receivers;
    private final StreamInfo stream;
    private final SendWindow window;
    private final SmallFrames small;
    private final SenderMachine machine;
    private final MemorySegment headers;
    private final int[] payloadLengths;
    private final byte[] payloads;
    private final int[] addresses;
    private final MemorySegment scratch = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);
    private final HeaderChecksum checksum = new HeaderChecksum();
    private final long pauseMaxNs;
    // A small frame may have to move to the next slot.
    private final int freeSlotsMin;
    private int published;
    private SimFrames.Frame open = new SimFrames.Frame(0, 0, 0, 0, 0, new byte[0]);
    private long openIndex;
    private long openSlots;
    private long nextFrameNs;
    private long sendFreeNs;
    private long wireBytes;
    private long joiningTaken;
    private long joiningTold;
    private boolean ended;
    private boolean torn;
    private boolean closed;

    SimSource(
            final SimReceiver.World world,
            final RandomGenerator random,
            final SimReceiver.Session session,
            final List<SimReceiver> receivers) {
        super(world.events(), random, 4096);
        network = world.network();
        options = world.options();
        frames = world.frames();
        journal = world.journal();
        this.session = session;
        this.receivers = receivers;
        stream = new StreamInfo(
                session.nonce(),
                "sim",
                options.stream().slotBytes(),
                options.stream().windowSlots(),
                options.stream().frameMaxBytes(),
                ALIVE_TIMEOUT_MS,
                new byte[] {1},
                new byte[] {2});
        headers = MemorySegment.ofArray(new byte[options.stream().windowSlots() * DataLayout.LENGTH]);
        payloadLengths = new int[options.stream().windowSlots()];
        payloads = new byte
                [Math.multiplyExact(
                        options.stream().windowSlots(), options.stream().slotBytes())];
        final SendWindow made = new SendWindow(
                options.stream().windowSlots(),
                headers,
                payloadLengths,
                options.stream().slotBytes(),
                session.nonce());
        window = made.firstFrameId(options.stream().firstFrameId());
        small = window.bundleIn(MemorySegment.ofArray(payloads));
        freeSlotsMin = small.takes(Math.max(1, options.stream().frameBytes())) ? 2 : 1;
        addresses = new int[Math.max(4, 2 * options.receivers())];
        machine = new SenderMachine(
                new SenderConfig(stream, addresses.length, 0, options.audience().coRoots()), window, random, this);
        pauseMaxNs = options.chaos() == 0 ? 1 : 1 + random.nextLong(2_000_000);
    }

    /// Publishing begins at this time.
    void begin(final long timeNs) {
        nextFrameNs = timeNs;
        wakeAt(0);
        events().at(timeNs, () -> {
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

    /// What it said to receivers and heard from them since publishing began.
    ///
    /// @param reports that co-roots took
    /// @param repairs that co-roots sent
    SimReport.Control control(final long reports, final long repairs) {
        final SenderCounts counts = machine.counts();
        return new SimReport.Control(
                counts.sentDatagrams(),
                taken() - joiningTaken,
                told() - joiningTold,
                counts.aggregates(),
                reports,
                repairs,
                counts.fedDatagrams(),
                counts.failovers());
    }

    boolean isPublished() {
        return ended;
    }

    boolean isDrained() {
        return ended && (closed || machine.isDrained());
    }

    /// Whether it closed in the middle of a frame: nobody hears of it any more, and the last frame is
    /// nobody's.
    boolean isClosed() {
        return closed;
    }

    SenderMachine machine() {
        return machine;
    }

    long wireBytes() {
        return wireBytes;
    }

    @Override
    int cycle() {
        int work = 0;
        final ArrayDeque<MemorySegment> control = inbox(SimLane.CONTROL);
        if (closed) {
            control.clear();
            return 0;
        }
        while (!control.isEmpty()) {
            onControl(control.remove());
            work++;
        }
        free();
        publish();
        work += send();
        if (machine.nextDeadlineNs() <= nowNs()) {
            machine.onTick(nowNs());
        }
        check();
        if (torn && machine.isSettled()) {
            goodbye();
        }
        return work;
    }

    private void goodbye() {
        if (machine.isDrained()) {
            violation("is drained though it ended within a frame");
        }
        closed = true;
        for (final SimReceiver receiver : receivers) {
            receiver.sourceClosed();
        }
        machine.close();
    }

    private void onControl(final MemorySegment datagram) {
        final int bytes = (int) datagram.byteSize();
        final long id = bytes >= ControlLayout.LENGTH ? ControlLayout.receiver(datagram, 0) : 0;
        final Verdict verdict = machine.onControl(datagram, 0, bytes, nowNs());
        if (ControlLayout.check(datagram, 0, bytes, checksum) == Verdict.GOOD && !verdict.isRejection()) {
            for (final SimReceiver receiver : receivers) {
                if (receiver.id() == id) {
                    receiver.heardBySource();
                }
            }
        }
        journal.decide(nowNs(), id, verdict.ordinal());
    }

    private void free() {
        final long to = options.plant() == Plant.REUSE_UNACKED_SLOT ? machine.nextSequence() : machine.releasable();
        for (final SimReceiver receiver : receivers) {
            if (receiver.isCounted() && to > receiver.acknowledgedSequence()) {
                violation("frees up to " + to + ", acknowledged is " + receiver.acknowledgedSequence());
            }
        }
        window.free(to);
    }

    private void publish() {
        while (true) {
            if (torn || (openIndex == openSlots && !beginFrame())) {
                return;
            }
            if (openIndex == openSlots) {
                continue;
            }
            final int free = window.freeSlots();
            if (free == 0) {
                return;
            }
            final int part = (int) Math.min(openSlots - openIndex, 1 + random().nextInt(free));
            for (int i = 0; i < part; i++) {
                final long offset = (openIndex + i) * options.stream().slotBytes();
                final int bytes = (int) Math.min(options.stream().slotBytes(), open.bytes() - offset);
                final int slot = window.slot(open.firstSequence() + openIndex + i);
                frames.fill(open.id(), offset, payloads, slot * options.stream().slotBytes(), bytes);
            }
            window.commit(open.bytes(), part);
            openIndex += part;
            tear();
        }
    }

    private void tear() {
        if (options.stream().tornEnd()
                && published == options.stream().frames()
                && openIndex < openSlots
                && random().nextInt(2) == 0) {
            torn = true;
            ended = true;
            machine.end(nowNs());
        }
    }

    private boolean beginFrame() {
        if (published == options.stream().frames()) {
            if (!ended) {
                ended = true;
                small.close();
                machine.end(nowNs());
            }
            return false;
        }
        if (nowNs() < nextFrameNs || window.freeSlots() < freeSlotsMin) {
            return false;
        }
        final byte[] metadata = new byte[random().nextInt(4) == 0 ? 1 + random().nextInt(METADATA_BYTES_MAX) : 0];
        random().nextBytes(metadata);
        final long bytes = frameBytes();
        final int flags = random().nextInt(8) == 0 ? DataLayout.FLAG_KEYFRAME : 0;
        final SimFrames.Frame frame =
                new SimFrames.Frame(frames.nextId(), window.cursor(), bytes, flags, nowNs(), metadata);
        published++;
        nextFrameNs = nowNs() + random().nextLong(pauseMaxNs);
        if (small.takes(bytes)) {
            publishSmall(frame);
            return true;
        }
        small.close();
        openSlots = StreamInfo.slots(bytes, options.stream().slotBytes());
        openIndex = 0;
        open = frames.add(frame.at(window.cursor()), openSlots);
        window.beginFrame(bytes, flags, open.timestampNs(), metadata);
        return true;
    }

    private void publishSmall(final SimFrames.Frame frame) {
        final int bytes = (int) frame.bytes();
        frames.fill(frame.id(), 0, payloads, (int) small.claim(bytes), bytes);
        // The sender's thread may take the bundle at any moment, this one too.
        if (random().nextInt(8) == 0) {
            window.takeBundle();
        }
        final byte[] metadata = frame.metadata();
        small.commit(frame.flags(), frame.timestampNs(), metadata);
        // With metadata it is committed already, and the cursor behind it.
        frames.add(frame.at(window.cursor() - (metadata.length == 0 ? 0 : 1)), 1);
    }

    private long frameBytes() {
        if (options.stream().frameBytes() > 0) {
            return options.stream().frameBytes();
        }
        final long max = options.stream().frameMaxBytes();
        final long slot = options.stream().slotBytes();
        final int shared =
                Math.min((int) max, BundleLayout.frameBytesMax(options.stream().slotBytes()));
        if (shared > 0 && random().nextInt(2) == 0) {
            return 1L + random().nextInt(shared);
        }
        return switch (random().nextInt(6)) {
            case 0 -> 1;
            case 1 -> slot;
            case 2 -> Math.min(max, slot + 1);
            case 3 -> max;
            default -> 1 + random().nextLong(max);
        };
    }

    private int send() {
        if (nowNs() < sendFreeNs) {
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
        for (final SimReceiver receiver : receivers) {
            if (receiver.isCounted() && first + count > receiver.grantedSequence()) {
                violation("sends up to " + (first + count) + ", a member granted " + receiver.grantedSequence());
            }
        }
        machine.announceMetadata(count);
        for (int i = 0; i < count; i++) {
            final MemorySegment datagram = datagram(first + i);
            wireBytes += datagram.byteSize();
            network.multicast(SimLane.DATA, datagram);
            haunt(datagram);
        }
        machine.onSent(count, nowNs());
        sendFreeNs = nowNs() + count * options.flow().datagramNs();
        journal.decide(nowNs(), first, count);
        return count;
    }

    private MemorySegment datagram(final long sequence) {
        final int slot = window.slot(sequence);
        final byte[] bytes = new byte[DataLayout.LENGTH + payloadLengths[slot]];
        MemorySegment.copy(
                headers, ValueLayout.JAVA_BYTE, (long) slot * DataLayout.LENGTH, bytes, 0, DataLayout.LENGTH);
        System.arraycopy(payloads, slot * options.stream().slotBytes(), bytes, DataLayout.LENGTH, payloadLengths[slot]);
        return MemorySegment.ofArray(bytes);
    }

    // An older session's datagram, with a plausible header and other payload.
    private void haunt(final MemorySegment datagram) {
        if (options.chaos() == 0 || random().nextInt(16) != 0) {
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
        if (machine.sendable() > 0 || (machine.isHungry() && window.hasBundle())) {
            deadline = Math.min(deadline, Math.max(nowNs(), sendFreeNs));
        }
        if (!torn
                && openIndex == openSlots
                && published < options.stream().frames()
                && window.freeSlots() >= freeSlotsMin) {
            deadline = Math.min(deadline, Math.max(nowNs(), nextFrameNs));
        }
        return Math.max(deadline, nowNs());
    }

    private void check() {
        final long held = window.committed() - window.freed();
        if (held >= window.slots() || machine.nextSequence() > window.committed()) {
            violation("window holds " + held + " of " + window.slots());
        }
    }

    @Override
    public int repair(final int member, final long firstSequence, final int count) {
        if (options.chaos() > 0 && random().nextInt(16) == 0) {
            return random().nextInt(count);
        }
        for (int i = 0; i < count; i++) {
            if (firstSequence + i < window.freed() || firstSequence + i >= machine.nextSequence()) {
                violation("repairs " + (firstSequence + i) + ", which it does not hold");
            }
            final MemorySegment datagram = datagram(firstSequence + i);
            wireBytes += datagram.byteSize();
            if (member == io.framecast.reliability.repair.RetransmitScheduler.EVERYBODY) {
                network.multicast(SimLane.REPAIR, datagram);
            } else {
                network.unicast(addresses[member], SimLane.REPAIR, datagram);
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
        wireBytes += bytes;
        noteEviction();
        network.multicast(SimLane.CONTROL, copy(bytes));
    }

    @Override
    public void sendControl(final int member, final int bytes) {
        wireBytes += bytes;
        noteEviction();
        if (ControlLayout.type(scratch, 0) == ControlLayout.TYPE_START) {
            noteStart(bytes);
        }
        network.unicast(addresses[member], SimLane.CONTROL, copy(bytes));
    }

    private void noteEviction() {
        if (ControlLayout.type(scratch, 0) != ControlLayout.TYPE_EVICT) {
            return;
        }
        for (final SimReceiver receiver : receivers) {
            if (receiver.id() == ControlLayout.receiver(scratch, 0)) {
                receiver.evicted(receiver.sourceHeardNs(), stream.aliveTimeoutNs(), LeaveLayout.reason(scratch, 0));
            }
        }
    }

    // The first frame that begins at or after what is sent next: the checker's own opinion of where a member
    // starts.
    private void noteStart(final int bytes) {
        final long first = StartLayout.firstSequence(scratch, 0);
        final long frameId = StartLayout.firstFrameId(scratch, 0);
        for (final SimReceiver receiver : receivers) {
            if (receiver.id() == ControlLayout.receiver(scratch, 0) && !receiver.isToldStart()) {
                final long truth = frames.idFrom(machine.nextSequence());
                if (frameId != truth || first != frames.firstSequence(truth)) {
                    violation("starts a member at frame " + frameId + ", sequence " + first + "; expected frame "
                            + truth + ", sequence " + frames.firstSequence(truth));
                }
                receiver.started(truth);
            }
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

    private void violation(final String text) {
        journal.violation(nowNs(), "source: " + text);
    }

    /// Why the source is not done, for the report.
    String describe() {
        return "source sent " + machine.nextSequence() + " of " + window.committed() + ", released "
                + machine.releasable() + ", granted " + machine.grantedSequence() + ", members "
                + machine.readyMembers();
    }
}
