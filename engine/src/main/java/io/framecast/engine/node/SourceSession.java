package io.framecast.engine.node;

import io.framecast.api.Channel;
import io.framecast.api.error.ConfigException;
import io.framecast.api.error.TransportException;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.Transport;
import io.framecast.engine.metrics.CounterTable;
import io.framecast.engine.metrics.EngineCounter;
import io.framecast.engine.metrics.Labels;
import io.framecast.engine.ready.ReadySet;
import io.framecast.engine.sink.LossInjector;
import io.framecast.engine.sink.Opened;
import io.framecast.reliability.CoRootConfig;
import io.framecast.reliability.SenderConfig;
import io.framecast.reliability.SenderMachine;
import io.framecast.reliability.SenderOutput;
import io.framecast.reliability.repair.RetransmitScheduler;
import io.framecast.reliability.window.SendWindow;
import io.framecast.reliability.window.SmallFrames;
import io.framecast.reliability.wire.DataHeader;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.LinkOffer;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.random.RandomGenerator;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// One source: its lanes, window and protocol machine, and the volatile state through which the publisher's
/// thread sees them. Duty cycle in [#doWork], by the sender's thread.
final class SourceSession implements SenderOutput, AutoCloseable {
    // As little as keeps both ends busy: what is written and sent round and round a small window stays in the
    // caches. The
    // next power of two above a frame and a half holds up to three.
    private static final long WINDOW_DEFAULT_MIN = 2L << 20;
    private static final long WINDOW_DEFAULT_MAX = 64L << 20;
    // Sent in one call, and in one duty cycle: control waits no longer than that.
    private static final int SEND_BATCH_BYTES = 1 << 20;
    private static final int SEND_BATCH_MIN = 16;
    private static final int SEND_ROUNDS_MAX = 2;
    private static final int NO_PEER = -1;
    private static final long STALL_LOOK_NS = 100_000_000;

    private final Transport transport;
    private final ControlLane control;
    private final Lane data;
    private final int sendBatchMax;
    private final SendPacer pacer;
    private final StallWatch stalls;
    private final Lane repair;
    private final SlotsInFlight dataInFlight;
    private final SlotsInFlight repairsInFlight;
    private final SendMemory memory;
    private final @Nullable MemberReach reach;
    private final SendWindow window;
    private final SmallFrames smallFrames;
    private final SenderMachine machine;
    private final int[] controlPeers;
    private final int[] repairPeers;
    private final HeaderChecksum checksum = new HeaderChecksum();
    private final DataHeader probeHeader = new DataHeader();
    private final ControlLane.Handler onControl = this::onControl;

    private final UnreadyLines unready;
    private final ForeignTraffic foreign;
    private long standstillNoticeNs;
    private final CounterBoard counters;
    private final Consumer<String> notices;

    private final Sleeper publisher = new Sleeper();
    private volatile int wantedSlots;
    private volatile int refusedSlots;
    private volatile int readyMembers;
    private volatile boolean ending;
    private volatile boolean drained;
    private volatile boolean settled;
    private boolean endTold;
    private long cycleNs;
    private long stallLookNs;
    private boolean failed;

    /// Opens lanes and memory. Owns the transport from then on; when it throws, what it opened is closed and
    /// the transport is still the caller's.
    ///
    /// @param secrets gives the session's nonce
    SourceSession(
            final Transport transport,
            final Channel channel,
            final SessionContext context,
            final RandomGenerator secrets) {
        this.transport = transport;
        notices = context.notices();
        final int slotBytes = slotBytes(transport);
        final int windowSlots = windowSlots(channel, slotBytes);
        sendBatchMax = Math.max(SEND_BATCH_MIN, SEND_BATCH_BYTES / slotBytes);
        pacer = new SendPacer(channel.link().rateBytes());
        stalls = new StallWatch(
                channel.name(), TimeUnit.MILLISECONDS.toNanos(channel.stream().aliveTimeoutMs()));
        try (Opened opened = new Opened()) {
            memory = opened.add(new SendMemory(windowSlots, slotBytes));
            // Before the lanes: what they register of the window is then part of what peers may read.
            final CoRootConfig coRoots = Policies.onWire(channel.stream().coRoots());
            final int writes = coRoots.feed() == CoRootConfig.Feed.UNICAST ? CopyWrites.OPERATIONS_MAX : 0;
            reach = MemberReach.open(transport, memory, writes, channel.name(), notices);
            if (reach != null) {
                opened.add(reach);
            }
            control = opened.add(new ControlLane(
                    transport, LaneConfig.Role.SOURCE, new LossInjector(context.lossProbability(), context.seed())));
            data = opened.add(transport.open(lane(LaneKind.DATA)));
            repair = opened.add(transport.open(lane(LaneKind.REPAIR)));
            dataInFlight = new SlotsInFlight(data, windowSlots);
            repairsInFlight = new SlotsInFlight(repair, windowSlots);
            final StreamInfo stream = stream(secrets.nextLong(), channel, windowSlots);
            window = new SendWindow(windowSlots, memory.headers(), memory.lengths(), slotBytes, stream.session());
            if (reach != null) {
                window.guardedBy(reach.guards());
            }
            smallFrames = window.bundleIn(memory.payload());
            final SenderConfig config =
                    new SenderConfig(stream, SenderConfig.MEMBERS_MAX_DEFAULT, context.epochOffsetNs(), coRoots);
            machine = new SenderMachine(config, window, context.random(), this);
            controlPeers = new int[config.membersMax()];
            repairPeers = new int[config.membersMax()];
            java.util.Arrays.fill(controlPeers, NO_PEER);
            java.util.Arrays.fill(repairPeers, NO_PEER);
            counters = counters(context.counters());
            foreign = ForeignTraffic.ofPublisher(
                    channel,
                    () -> ForeignTraffic.datagrams(control.lane()) + ForeignTraffic.datagrams(machine.verdicts()),
                    notices);
            unready = new UnreadyLines(transport, stream, machine.joinAttempts(), notices);
            opened.keep();
        }
    }

    private LaneConfig lane(final LaneKind kind) {
        return new LaneConfig(kind, LaneConfig.Role.SOURCE, memory.ring(), null, null);
    }

    private StreamInfo stream(final long session, final Channel channel, final int windowSlots) {
        return new StreamInfo(
                session,
                channel.name(),
                memory.ring().payloadBytes(),
                windowSlots,
                channel.stream().frameMaxBytes(),
                (int) channel.stream().aliveTimeoutMs(),
                control.address().toBytes(),
                data.address().toBytes());
    }

    private CounterBoard counters(final CounterTable table) {
        final CounterBoard board = new CounterBoard(
                        table, Labels.of("channel", stream().channel()))
                .sends(data, "data")
                .sends(repair, "repair")
                .sends(control.lane(), "control")
                .receives(control.lane(), "control")
                .verdicts(machine.verdicts())
                .registrations(transport)
                .add(EngineCounter.REPAIRS_SENT, machine.counts()::repairedDatagrams)
                .add(EngineCounter.NACKS_RECEIVED, machine.counts()::nacks)
                .add(EngineCounter.ACKS_RECEIVED, machine.counts()::acks)
                .add(EngineCounter.HEARTBEATS_SENT, machine.counts()::heartbeats)
                .add(EngineCounter.CO_ROOTS, machine.counts()::coRoots)
                .add(EngineCounter.AGGREGATES_RECEIVED, machine.counts()::aggregates)
                .add(EngineCounter.FAILOVERS, machine.counts()::failovers)
                .add(EngineCounter.FEED_SENT, machine.counts()::fedDatagrams)
                .add(EngineCounter.INSTRUCTIONS_SENT, machine.counts()::instructions)
                .add(EngineCounter.EVICTIONS, machine.counts()::evictions)
                .add(EngineCounter.JOIN_REFUSALS, machine.counts()::refusals)
                .add(EngineCounter.MEMBERS_READY, machine::readyMembers)
                .add(EngineCounter.ROUND_TRIP, machine::rttNs)
                .add(
                        EngineCounter.CREDIT_REMAINING,
                        () -> machine.readyMembers() == 0 ? 0 : machine.grantedSequence() - machine.nextSequence())
                .add(
                        EngineCounter.WINDOW_USED,
                        () -> (window.committed() - window.freed()) * stream().slotBytes());
        if (reach != null) {
            board.add(EngineCounter.GRANTS_READ, machine.counts()::grantWords)
                    .add(EngineCounter.CREDIT_DATAGRAMS, machine.counts()::creditDatagrams)
                    .add(EngineCounter.LINKED_MEMBERS, machine.counts()::links)
                    .add(EngineCounter.FEED_WRITTEN, machine.counts()::writtenDatagrams)
                    .fallback("feed", machine.counts()::feedFailures)
                    .fallback("link", machine.counts()::linkFailures)
                    .fallback("impossible_word", machine.counts()::impossibleWords);
        }
        return board;
    }

    /// Counters of what the publisher's thread does.
    CounterBoard counters() {
        return counters;
    }

    private static int slotBytes(final Transport transport) {
        final int room = transport.capabilities().datagramBytesMax() - DataLayout.LENGTH;
        final int slotBytes = Math.min(room, StreamInfo.SLOT_BYTES_MAX) / 64 * 64;
        if (slotBytes <= 0) {
            throw new ConfigException("mtu: expected room for a 40-byte header and 64 bytes of payload");
        }
        return slotBytes;
    }

    // One slot of the window is never filled, hence the one more.
    private static int windowSlots(final Channel channel, final int slotBytes) {
        final long frameMax = channel.stream().frameMaxBytes();
        final long wanted = channel.stream().windowBytes() > 0
                ? channel.stream().windowBytes()
                : Math.clamp(frameMax + frameMax / 2, WINDOW_DEFAULT_MIN, WINDOW_DEFAULT_MAX);
        final long slots = Math.max(64, StreamInfo.slots(wanted, slotBytes) + 1);
        if (slots > StreamInfo.WINDOW_SLOTS_MAX) {
            throw new ConfigException("window: expected at most " + (long) (StreamInfo.WINDOW_SLOTS_MAX - 1) * slotBytes
                    + " bytes, got " + wanted);
        }
        return (int) (Long.highestOneBit(slots - 1) << 1);
    }

    SendWindow window() {
        return window;
    }

    SmallFrames smallFrames() {
        return smallFrames;
    }

    SendMemory memory() {
        return memory;
    }

    StreamInfo stream() {
        return machine.stream();
    }

    SenderMachine machine() {
        return machine;
    }

    Lane dataLane() {
        return data;
    }

    int readyMembers() {
        return readyMembers;
    }

    /// Who asked to join and is not ready.
    UnreadyLines unready() {
        return unready;
    }

    /// The publisher's thread, when it waits for room.
    Sleeper publisher() {
        return publisher;
    }

    /// Any thread: whether somebody would take that many datagrams, and the window has room for them.
    boolean hasRoom(final int slots) {
        return readyMembers > 0 && window.slots() - 1 - (window.committed() - window.freed()) >= slots;
    }

    /// Publisher: a claim was refused for want of so many slots in one piece, or with 0 was not.
    void onClaim(final int slots) {
        refusedSlots = slots;
    }

    /// Publisher: sleeps until there is room, or the other condition holds, or the time is over.
    void awaitRoom(final SessionHost host, final int slots, final BooleanSupplier over, final Duration longest) {
        wantedSlots = slots;
        host.await(publisher, () -> hasRoom(slots) || over.getAsBoolean(), longest);
    }

    /// Publisher: no more frames.
    void end() {
        ending = true;
    }

    /// Whether, after [#end], everything was acknowledged.
    boolean isDrained() {
        return drained;
    }

    /// Whether, after [#end], there is nothing left to wait for: drained, or ended within a frame.
    boolean isSettled() {
        return settled;
    }

    /// What ends an agent's sleep when peers speak.
    int readyDescriptor() {
        return transport.readyDescriptor();
    }

    /// Whether a descriptor shows it when peers speak.
    boolean isShown() {
        return transport.readyDescriptor() != ReadySet.NONE || control.lane().readyDescriptor() != ReadySet.NONE;
    }

    /// The agent means to sleep.
    void arm() {
        if (!failed) {
            control.lane().armReady();
        }
    }

    /// What ends an agent's sleep when peers speak, where the transport does not tell.
    void tellDescriptors(final IntConsumer told) {
        if (!failed) {
            told.accept(control.lane().readyDescriptor());
        }
    }

    /// When a timer is due, or the pacer lets more go out.
    long nextDeadlineNs() {
        return isPaced() ? Math.min(machine.nextDeadlineNs(), pacer.nextNs()) : machine.nextDeadlineNs();
    }

    // It was the pacer that let no more go out in the last duty cycle.
    private boolean isPaced() {
        return machine.sendable() > 0 && machine.readyMembers() > 0 && pacer.nextNs() > cycleNs;
    }

    /// Whether the transport holds what could be sent, and nothing tells when it takes it.
    boolean isHeldBack() {
        return (machine.sendable() > 0 && !isPaced())
                || data.completed() != data.submitted()
                || repair.completed() != repair.submitted()
                || isCreditAwaited()
                || (reach != null && reach.isWriting());
    }

    // Nothing tells of what members write.
    private boolean isCreditAwaited() {
        return reach != null
                && machine.counts().links() > 0
                && window.committed() > machine.nextSequence()
                && machine.sendable() == 0;
    }

    /// One duty cycle.
    int doWork(final long nowNs) {
        cycleNs = nowNs;
        int work = control.poll(onControl, nowNs);
        noticeStandstill(machine.onCycle(nowNs));
        if (reach != null) {
            work += reach.poll(machine);
            machine.onWritten();
        }
        if (machine.isHungry()) {
            window.takeBundle();
        }
        work += sendData(nowNs);
        if (ending && !endTold) {
            endTold = true;
            window.takeBundle();
            machine.end(nowNs);
        }
        machine.onCrowded(refusedSlots > 0 && !hasRoom(refusedSlots));
        if (machine.nextDeadlineNs() <= nowNs) {
            work += machine.onTick(nowNs);
        }
        free();
        readyMembers = machine.readyMembers();
        if (hasRoom(wantedSlots)) {
            publisher.wake();
        }
        counters.tick(nowNs);
        lookAround(nowNs);
        if (endTold) {
            drained = machine.isDrained();
            settled = machine.isSettled();
        }
        return work;
    }

    private void noticeStandstill(final long stoodNs) {
        if (stoodNs > 0 && cycleNs >= standstillNoticeNs) {
            standstillNoticeNs = cycleNs + Subscription.STANDSTILL_NOTICE_NS;
            notices.accept("publisher of " + stream().channel() + ": " + Partings.standstill(stoodNs / 1_000_000)
                    + "; asking its subscribers");
        }
    }

    // What no device reads any more.
    private void free() {
        final long limit = dataInFlight.freeable(window, machine.releasable());
        final long sent = repairsInFlight.freeable(window, limit);
        window.free(reach == null ? sent : reach.freeable(sent));
    }

    private void lookAround(final long nowNs) {
        if (nowNs < stallLookNs) {
            return;
        }
        stallLookNs = nowNs + STALL_LOOK_NS;
        unready.look(nowNs);
        foreign.tick(nowNs);
        final String stall = stalls.look(
                machine.releasable(), machine.nextSequence(), machine.counts().repairedDatagrams(), nowNs);
        if (stall != null) {
            notices.accept(stall);
        }
    }

    /// @return work done; also where the pacer lets more go out so soon that the thread must not sleep
    private int sendData(final long nowNs) {
        int sent = 0;
        for (int round = 0; round < SEND_ROUNDS_MAX; round++) {
            final int slot = window.slot(machine.nextSequence());
            // The ring goes on behind the window, with the probe's slot: runs end where the window does.
            final int ready = Math.min(Math.min(machine.sendable(), sendBatchMax), window.slots() - slot);
            // Without members there is nobody to hear it: the frames of a stream whose subscribers left are given
            // up.
            final boolean unheard = machine.readyMembers() == 0;
            final int count = unheard ? ready : paced(slot, ready, nowNs);
            if (count == 0) {
                sent += ready > 0 && pacer.isDueSoon(nowNs) ? 1 : 0;
                break;
            }
            if (machine.isGuarded()) {
                window.seal(machine.nextSequence(), count);
            }
            final int accepted = unheard ? count : data.multicast(slot, count);
            if (!unheard) {
                dataInFlight.onSent(slot, accepted);
                charge(slot, accepted, nowNs);
            }
            machine.announceMetadata(accepted);
            machine.onSent(accepted, nowNs);
            sent += accepted;
            if (accepted < count) {
                break;
            }
        }
        machine.onWaiting(data.submitted() - data.completed(), nowNs);
        return sent;
    }

    private int paced(final int slot, final int most, final long nowNs) {
        return pacer.datagrams(memory.lengths(), DataLayout.LENGTH, slot, most, nowNs);
    }

    private void charge(final int slot, final int count, final long nowNs) {
        if (pacer.isUnlimited()) {
            return;
        }
        long bytes = (long) count * DataLayout.LENGTH;
        for (int i = 0; i < count; i++) {
            bytes += memory.lengths()[slot + i];
        }
        pacer.onSent(bytes, nowNs);
    }

    private void onControl(final MemorySegment datagram, final long offset, final int bytes, final long nowNs) {
        machine.onControl(datagram, offset, bytes, nowNs);
    }

    @Override
    public MemorySegment control() {
        return control.slot();
    }

    @Override
    public void multicastControl(final int bytes) {
        control.multicast(bytes);
    }

    @Override
    public void sendControl(final int member, final int bytes) {
        if (controlPeers[member] != NO_PEER) {
            control.unicast(controlPeers[member], bytes);
        }
    }

    @Override
    public void probe(final int token) {
        data.multicast(memory.writeProbe(stream().session(), token, checksum, probeHeader), 1);
    }

    @Override
    public int repair(final int member, final long firstSequence, final int count) {
        final int slot = window.slot(firstSequence);
        final boolean toAll = member == RetransmitScheduler.EVERYBODY;
        if (!toAll && repairPeers[member] == NO_PEER) {
            return count;
        }
        // Ahead of the time when new data may go out, which would leave nothing for repairs otherwise.
        final long aheadNs = cycleNs + SendPacer.REPAIR_AHEAD_NS;
        final int run = paced(slot, Math.min(count, window.slots() - slot), aheadNs);
        if (run == 0) {
            return 0;
        }
        final int accepted = toAll ? repair.multicast(slot, run) : repair.unicast(repairPeers[member], slot, run);
        repairsInFlight.onSent(slot, accepted);
        charge(slot, accepted, cycleNs);
        return accepted;
    }

    @Override
    public boolean connect(final int member, final byte[] controlAddress, final byte[] repairAddress) {
        try {
            controlPeers[member] = control.lane().connect(new LaneAddress(controlAddress));
            repairPeers[member] = repair.connect(new LaneAddress(repairAddress));
            return true;
        } catch (final TransportException e) {
            // A hostile or foreign address: this JOIN is dropped, the machine counts it.
            disconnect(member);
            return false;
        }
    }

    @Override
    public void disconnect(final int member) {
        if (controlPeers[member] != NO_PEER) {
            control.lane().disconnect(controlPeers[member]);
        }
        if (repairPeers[member] != NO_PEER) {
            repair.disconnect(repairPeers[member]);
        }
        controlPeers[member] = NO_PEER;
        repairPeers[member] = NO_PEER;
    }

    @Override
    public boolean link(final int member, final byte[] descriptor) {
        return reach != null && reach.accept(member, descriptor);
    }

    @Override
    public @Nullable LinkOffer linkOffer(final int member) {
        return reach == null ? null : reach.offer(member);
    }

    @Override
    public boolean isLinkBroken(final int member) {
        return reach != null && reach.isBroken(member);
    }

    @Override
    public boolean openFeed(final int member, final LinkOffer copy, final int epoch, final long first) {
        return reach != null && reach.openFeed(member, copy, epoch, first);
    }

    @Override
    public int feed(final int member, final long firstSequence, final int count) {
        return reach == null ? NO_FEED : reach.feed(member, firstSequence, count);
    }

    @Override
    public void unlink(final int member) {
        if (reach != null) {
            reach.cut(member);
        }
    }

    /// Tells members when the session ends early, then frees everything, whatever state the lanes are in.
    @Override
    public void close() {
        CloseHelper.closeAll(this::sayGoodbye, counters, reach, repair, data, control, transport, memory);
    }

    private void sayGoodbye() {
        counters.publish();
        for (int i = 0; i < ReceiverSession.GOODBYES && !drained && !failed; i++) {
            machine.close();
        }
    }

    /// A lane failed: nothing can be said any more.
    void fail() {
        failed = true;
    }
}
