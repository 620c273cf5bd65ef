package io.framecast.engine.subscribe;

import io.framecast.api.Channel;
import io.framecast.api.SourceEvent;
import io.framecast.api.SourceOptions;
import io.framecast.api.StreamConfig;
import io.framecast.api.error.ConfigException;
import io.framecast.api.error.TransportException;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.ReceiveRing;
import io.framecast.api.spi.Transport;
import io.framecast.api.spi.TransportCapabilities;
import io.framecast.engine.auth.DatagramSeals;
import io.framecast.engine.hostgroup.GroupLeader;
import io.framecast.engine.hostgroup.SharedFrames;
import io.framecast.engine.hostgroup.Takeover;
import io.framecast.engine.memory.RollbackOnFailure;
import io.framecast.engine.metrics.EngineCounter;
import io.framecast.engine.metrics.Labels;
import io.framecast.engine.port.ControlLane;
import io.framecast.engine.port.LossInjector;
import io.framecast.engine.port.ReceiveLane;
import io.framecast.engine.port.TransportOneSided;
import io.framecast.engine.ready.ReadySet;
import io.framecast.engine.session.CounterBoard;
import io.framecast.engine.session.Policies;
import io.framecast.engine.session.SessionContext;
import io.framecast.engine.sink.HostReceiveMemory;
import io.framecast.engine.sink.NicCopyEngine;
import io.framecast.engine.sink.ReceiveMemory;
import io.framecast.engine.sink.ReceiveRings;
import io.framecast.reliability.assembly.Assembly;
import io.framecast.reliability.assembly.MemoryShape;
import io.framecast.reliability.assembly.ReadSlots;
import io.framecast.reliability.assembly.RepairSlots;
import io.framecast.reliability.lane.LanePort;
import io.framecast.reliability.lane.SendLanePort;
import io.framecast.reliability.onesided.OneSidedPort;
import io.framecast.reliability.onesided.ReadCount;
import io.framecast.reliability.onesided.RemoteWindows;
import io.framecast.reliability.receive.Checkpoint;
import io.framecast.reliability.receive.ReceiverConfig;
import io.framecast.reliability.receive.ReceiverCount;
import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.receive.ReceiverMachine.State;
import io.framecast.reliability.receive.ReceiverOutput;
import io.framecast.reliability.receive.RemoteMemory;
import io.framecast.reliability.session.ReceiveSession;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Verdict;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.function.IntConsumer;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// One subscription's part in one source's session: the protocol's [ReceiveSession], its lanes and memory, its
/// peers, and the state of its life.
///
/// Threading: the conductor opens it, then the receiver's thread uses it; the conductor calls [#close].
public final class ReceiverSession implements ReceiverOutput, AutoCloseable {
    private static final int NO_PEER = SendLanePort.NO_PEER;
    // A handshake without an answer for so long must not make other sources wait.
    private static final long STALE_NS = 1_000_000_000;
    // A handshake that takes longer is reported.
    private static final long SLOW_NS = 1_000_000_000;
    private static final long REUNION_MAX_NS = 1_000_000_000;
    private static final int REUNIONS_PER_SILENCE = 4;
    private static final long OBSTACLE_INTERVAL_NS = 200_000_000;

    private final ControlLane control;
    private final SessionQueue queue;
    private final @Nullable SharedFrames shared;
    private final @Nullable Checkpoint resumed;
    private final ReceiveMemory memory;
    private final Lane data;
    private final Lane repair;
    private final @Nullable RemoteWindows windows;
    // A co-root keeps payloads in host memory, which direct placement bypasses.
    private final @Nullable CoRootService serving;
    private final ReceiverMachine machine;
    private final ReceiveSession protocol;
    private final CounterBoard counters;
    private final long receiverId;
    private final @Nullable DatagramSeals opener;
    private int sourcePeer = NO_PEER;
    private int coRootPeer = NO_PEER;
    private long heardNs;
    private long startedNs;
    private String obstacle = "";
    private long obstacleNs;
    // A membership is to go on.
    private boolean resumes;
    private boolean joined;
    private boolean over;
    private boolean left;

    /// Opens the lanes; the handshake is not begun. When the constructor throws, it closes everything it opened.
    ///
    /// @param control the subscription's
    /// @param loss injected into the data and repair lanes
    /// @param memory of this shape; the session owns it once the constructor returns
    /// @param admission to the source's session
    /// @param secret random; or what became of the one of the membership that goes on
    /// @param takeover the membership that goes on; null for a new one
    /// @param conductor runs long tasks in order
    ReceiverSession(
            final EngineSubscriber subscriber,
            final Transport transport,
            final SessionContext context,
            final ControlLane control,
            final LossInjector loss,
            final MemoryShape shape,
            final ReceiveMemory memory,
            final Admission admission,
            final long secret,
            final @Nullable Takeover takeover,
            final Executor conductor) {
        receiverId = admission.receiverId();
        resumed = takeover == null ? null : takeover.checkpoint();
        this.control = control;
        this.memory = memory;
        final Channel channel = subscriber.channel();
        final StreamConfig config = channel.stream();
        final StreamInfo stream = shape.stream();
        final Delivery policy = policy(config, takeover);
        try (RollbackOnFailure opened = new RollbackOnFailure()) {
            final ReceiveRings rings = memory.rings();
            data = opened.add(
                    transport.open(lane(LaneKind.DATA, rings.dataRing(), new LaneAddress(stream.dataAddress()))));
            repair = opened.add(transport.open(lane(LaneKind.REPAIR, rings.repairRing(), null)));
            requireOneHost(transport);
            final TransportCapabilities.Placement placement =
                    transport.capabilities().placement();
            final LanePort dataPort = new ReceiveLane(data, placement, shape.batchMax(), loss, memory::posted);
            final LanePort repairPort = new ReceiveLane(repair, placement, RepairSlots.BATCH_MAX, loss, memory::posted);
            final Assembly assembly = Assembly.of(shape, memory);
            final RepairSlots repairs = new RepairSlots(shape, memory);
            final OneSidedPort oneSided = TransportOneSided.of(transport.oneSided(), conductor);
            windows = oneSided == null
                    ? null
                    : opened.add(new RemoteWindows(oneSided, stream, repairs.reads(), context.notices()));
            serving = config.coRoots().serves()
                    ? service(transport, oneSided, stream, repairs.reads(), context, conductor, opened)
                    : null;
            final int capacity = Math.min(data.receiveCapacity(), assembly.prepare(dataPort));
            machine = new ReceiverMachine(
                    receiverConfig(config, policy, context, shape, receiverId, secret, capacity),
                    context.random(),
                    this,
                    serving);
            queue = subscriber.openQueue(stream, memory, assembly);
            shared = share(subscriber, shape, assembly, policy, takeover, opened);
            protocol = new ReceiveSession(
                    machine,
                    assembly,
                    repairs,
                    dataPort,
                    repairPort,
                    windows,
                    shared == null ? queue : shared,
                    // Followers judge whole frames themselves.
                    shared == null ? policy : Delivery.RELIABLE,
                    config.sources().joinAt() == SourceOptions.JoinAt.KEYFRAME);
            opener = admission.opener();
            if (opener != null) {
                protocol.openedBy(opener);
            }
            counters = opened.add(new CounterBoard(context.counters(), labels(channel, stream)));
            count(assembly);
            opened.keep();
        }
    }

    // Its source refuses any other.
    private void requireOneHost(final Transport transport) {
        if (!transport.isOneHost(control.address(), repair.address())) {
            throw new TransportException(
                    "transport "
                            + transport.capabilities().name()
                            + ": its control and repair lanes are not of one host; its Transport.isOneHost must know its addresses");
        }
    }

    // Where payloads do not land in host memory the source alone fills a replica there, over the member's connection.
    private @Nullable CoRootService service(
            final Transport transport,
            final @Nullable OneSidedPort oneSided,
            final StreamInfo stream,
            final @Nullable ReadSlots reads,
            final SessionContext context,
            final Executor conductor,
            final RollbackOnFailure opened) {
        final boolean fedOnly = !memory.data().hostAddressable();
        return fedOnly && oneSided == null
                ? null
                : opened.add(new CoRootService(
                        transport,
                        oneSided,
                        control,
                        receiverId,
                        stream,
                        reads,
                        fedOnly,
                        context.notices(),
                        conductor));
    }

    // A membership that goes on has the policy that its source knows.
    private static Delivery policy(final StreamConfig config, final @Nullable Takeover takeover) {
        final Delivery own = Policies.onWire(config.delivery());
        if (takeover == null || takeover.waitedFor() == own.isWaitedFor()) {
            return own;
        }
        return takeover.waitedFor() ? Delivery.RELIABLE : Delivery.LATEST;
    }

    private ReceiverConfig receiverConfig(
            final StreamConfig config,
            final Delivery policy,
            final SessionContext context,
            final MemoryShape shape,
            final long receiverId,
            final long secret,
            final int receiveCapacity) {
        return new ReceiverConfig(
                shape.stream(),
                receiverId,
                secret,
                shape.ringSlots() - shape.spareSlots(),
                receiveCapacity,
                config.reorderDatagrams(),
                policy,
                addresses(),
                context.epochOffsetNs(),
                Sites.number(config.coRoots().site()));
    }

    // Followers need every frame contiguous in a ring that they can map.
    private @Nullable SharedFrames share(
            final EngineSubscriber subscriber,
            final MemoryShape shape,
            final Assembly assembly,
            final Delivery policy,
            final @Nullable Takeover takeover,
            final RollbackOnFailure opened) {
        final GroupLeader leader = subscriber.leader();
        if (leader == null) {
            return null;
        }
        if (!(memory instanceof HostReceiveMemory host) || !host.isRingMappedTwice()) {
            throw new ConfigException("host-group: this system cannot map a ring twice; use host-group=off");
        }
        if (takeover != null) {
            // The ring is empty, so its first sequences lie where they would without an earlier membership.
            host.ring()
                    .segment()
                    .asSlice(
                            assembly.ringOffset(takeover.checkpoint().firstSequence),
                            takeover.payload().byteSize())
                    .copyFrom(takeover.payload());
        }
        final SharedFrames made = opened.add(leader.share(
                assembly,
                shape.stream(),
                host.ring(),
                host.ringBytes(),
                takeover != null,
                policy,
                (subscriber.channel().stream().framesHeld() - 1L)
                        * shape.stream().frameMaxSlots(),
                machine::nextFrameSequence));
        machine.log(made);
        return made;
    }

    private LaneAddresses addresses() {
        return new LaneAddresses(
                control.address().toBytes(),
                repair.address().toBytes(),
                windows == null ? new byte[0] : windows.descriptor());
    }

    private static LaneConfig lane(final LaneKind kind, final ReceiveRing ring, final @Nullable LaneAddress peer) {
        return new LaneConfig(kind, LaneConfig.Role.RECEIVER, null, ring, peer);
    }

    // With one source the counters keep their labels through all its sessions.
    private static String labels(final Channel channel, final StreamInfo stream) {
        final String name = Labels.of("channel", channel.name());
        return channel.stream().sources().count() == 1
                ? name
                : Labels.join(name, Labels.of("session", SourceEvent.sessionText(stream.session())));
    }

    private void count(final Assembly assembly) {
        final Counts<ReceiverCount> counts = machine.counts();
        counters.receives(data, "data")
                .receives(repair, "repair")
                .verdicts(machine.verdicts())
                .triggers(machine)
                .add(EngineCounter.REPAIRS_RECEIVED, counts.of(ReceiverCount.REPAIRED_DATAGRAMS))
                .add(EngineCounter.NACKS_SENT, counts.of(ReceiverCount.NACKS))
                .add(EngineCounter.ACKS_SENT, counts.of(ReceiverCount.ACKS))
                .add(EngineCounter.SERVED_MEMBERS, counts.of(ReceiverCount.SERVED_MEMBERS))
                .add(EngineCounter.REPORTS_RECEIVED, counts.of(ReceiverCount.REPORTS_TAKEN))
                .add(EngineCounter.MEMBER_LINKS, counts.of(ReceiverCount.MEMBER_LINKS))
                .add(EngineCounter.SET_REPAIRS_SENT, counts.of(ReceiverCount.REPAIRS_SENT))
                .add(EngineCounter.REPAIRS_LIMITED, counts.of(ReceiverCount.LIMITED_REPAIRS))
                .add(EngineCounter.REASSEMBLED_BYTES, assembly::reassembledBytes)
                .add(EngineCounter.REPAIRS_REFUSED, assembly::refusedRepairs)
                .add(EngineCounter.STORED_BYTES, memory::storedBytes);
        final NicCopyEngine nic = memory.nic();
        if (nic != null) {
            counters.copies(nic);
        }
        if (windows != null) {
            counters.add(EngineCounter.GRANTS_WRITTEN, counts.of(ReceiverCount.GRANTS_WRITTEN))
                    .add(EngineCounter.FEED_TAKEN, counts.of(ReceiverCount.FED_DATAGRAMS))
                    .add(EngineCounter.OWN_REPAIRS, counts.of(ReceiverCount.OWN_REPAIRS))
                    .add(EngineCounter.DATAGRAMS_PULLED, windows.sourceReads().of(ReadCount.LANDED))
                    .add(
                            EngineCounter.DATAGRAMS_PULLED_SET,
                            windows.coRootReads().of(ReadCount.LANDED))
                    .fallback("feed", counts.of(ReceiverCount.FEED_FAILURES))
                    .fallback("vain_feed", counts.of(ReceiverCount.VAIN_FEEDS))
                    .fallback("late_feed", counts.of(ReceiverCount.LATE_FEEDS))
                    .fallback("link", counts.of(ReceiverCount.LINK_FAILURES))
                    .fallback("slow_grant", counts.of(ReceiverCount.SLOW_WRITES))
                    .fallback("overdue_pull", counts.of(ReceiverCount.OVERDUE_PULLS))
                    .fallback("slow_pull", windows.sourceReads().of(ReadCount.SLOW))
                    .fallback("stale_pull", windows.sourceReads().of(ReadCount.STALE))
                    .fallback("set_link", counts.of(ReceiverCount.CO_ROOT_CONNECTION_FAILURES))
                    .fallback("slow_set_pull", windows.coRootReads().of(ReadCount.SLOW))
                    .fallback("stale_set_pull", windows.coRootReads().of(ReadCount.STALE));
        }
    }

    public ReceiverMachine machine() {
        return machine;
    }

    /// The protocol's part.
    public ReceiveSession protocol() {
        return protocol;
    }

    SessionQueue queue() {
        return queue;
    }

    Lane repairLane() {
        return repair;
    }

    /// The session's number.
    long id() {
        return queue.session();
    }

    /// Begins the handshake.
    ///
    /// @throws TransportException where the source announces an address that this transport cannot use
    void start(final long nowNs) {
        heardNs = nowNs;
        startedNs = nowNs;
        sourcePeer = control.lane().connect(new LaneAddress(machine.stream().controlAddress()));
        if (resumed == null) {
            machine.start(nowNs);
        } else {
            resumes = true;
        }
    }

    // The source must not take this receiver for silent meanwhile.
    private long reunionNs() {
        return Math.min(REUNION_MAX_NS, machine.stream().aliveTimeoutNs() / REUNIONS_PER_SILENCE);
    }

    // What is promised from here on must be with those who may go on, so they come first; but not for long.
    private boolean awaitsFollowers(final long nowNs) {
        if (resumes && (shared == null || shared.isReunited() || nowNs - startedNs > reunionNs())) {
            resumes = false;
            machine.resume(Objects.requireNonNull(resumed), nowNs);
        }
        return resumes;
    }

    /// A control datagram that names this session.
    void onControl(final MemorySegment datagram, final long offset, final int bytes, final long nowNs) {
        if (machine.onControl(datagram, offset, bytes, nowNs) == Verdict.GOOD) {
            heardNs = nowNs;
            if (ControlLayout.type(datagram, offset) == ControlLayout.TYPE_HEARTBEAT) {
                queue.clock().onHeartbeat(datagram, offset, machine.clock(), control.timeNs(nowNs));
                if (shared != null) {
                    shared.onClock(machine.clock().offsetNs(), machine.clock().boundNs(nowNs));
                }
            }
        }
    }

    /// One duty cycle; after [#leave], it only takes back frames that the subscriber released.
    int doWork(final long nowNs) {
        if (left) {
            return protocol.takeBack(nowNs);
        }
        if (awaitsFollowers(nowNs)) {
            return 0;
        }
        final int work = protocol.doWork(nowNs);
        if (shared != null) {
            standFor(shared, nowNs);
        }
        counters.tick(work, nowNs);
        return work;
    }

    // A follower that must miss nothing looks whether the source waits after it was counted. So the source hears that
    // it need not wait only when nobody was counted who might have seen that it does.
    private void standFor(final SharedFrames frames, final long nowNs) {
        if (machine.state() != State.RECEIVING || !frames.isReunited()) {
            return;
        }
        if (!frames.strongest().isWaitedFor()) {
            frames.askToWait(false);
        }
        final Delivery strongest = frames.strongest();
        if (strongest.isWaitedFor()) {
            frames.askToWait(true);
        }
        machine.standFor(frames.readers(), strongest, nowNs);
        if (machine.isWaitedFor()) {
            frames.onWaitedFor();
        }
    }

    /// The descriptors that wake the agent when data arrives.
    void collectDescriptors(final IntConsumer descriptors) {
        if (!left) {
            descriptors.accept(data.readyDescriptor());
            descriptors.accept(repair.readyDescriptor());
        }
    }

    /// Whether each of the session's lanes has a descriptor of its own.
    boolean isPollable() {
        return left || (data.readyDescriptor() != ReadySet.NONE && repair.readyDescriptor() != ReadySet.NONE);
    }

    /// Arms the lanes' wake-ups before the agent sleeps.
    void arm() {
        if (!left) {
            data.armReady();
            repair.armReady();
        }
    }

    long nextDeadlineNs() {
        return left ? Long.MAX_VALUE : protocol.nextDeadlineNs();
    }

    boolean mustPoll() {
        return left || resumes || queue.isDraining() || protocol.isWaiting() || memory.isBusy();
    }

    /// Whether the subscriber has seen the start of this session.
    boolean isJoined() {
        return joined;
    }

    void onJoined() {
        joined = true;
        if (shared != null) {
            shared.onJoined(protocol.firstFrameId());
        }
    }

    /// Whether nothing follows, and the queue holds everything that arrived.
    boolean isOver() {
        return over;
    }

    void onOver() {
        over = true;
        // A handshake that failed is followed by another.
        if (shared != null && joined) {
            shared.onOver(machine.state() == State.ENDED);
        }
    }

    /// Whether it goes on with another leader's membership.
    boolean isResumed() {
        return resumed != null;
    }

    /// The source of a membership that goes on here does not answer: its followers have lost it too.
    void onSourceGone() {
        over = true;
        if (shared != null) {
            shared.onOver(false);
        }
    }

    /// Whether the session delivers frames, or will.
    boolean isReceiving() {
        return joined && !over;
    }

    /// Whether the handshake is under way.
    boolean isJoining() {
        return !joined && !over;
    }

    /// Whether the session is joining, and the source has been silent for too long.
    boolean isStale(final long nowNs) {
        return isJoining() && nowNs - heardNs > STALE_NS;
    }

    /// Whether the handshake takes longer than expected, and its obstacle is due for a check.
    boolean isObstacleDue(final long nowNs) {
        final boolean due = isJoining() && nowNs - startedNs > SLOW_NS && nowNs >= obstacleNs;
        if (due) {
            obstacleNs = nowNs + OBSTACLE_INTERVAL_NS;
        }
        return due;
    }

    /// This process stood still during the handshake.
    void onStandstill(final long nowNs) {
        heardNs = nowNs;
        startedNs = nowNs;
        machine.onStandstill(nowNs);
    }

    /// The obstacle of the handshake, in one line; empty where the handshake did not take long.
    String obstacle() {
        return obstacle;
    }

    void onObstacle(final String line) {
        obstacle = line;
    }

    /// Whether the source ended and needs no more answers.
    boolean isForgotten(final long nowNs) {
        return over && machine.state() == State.ENDED && nowNs - heardNs > machine.silenceNs();
    }

    /// Whether lanes are closed.
    boolean hasLeft() {
        return left;
    }

    /// Sends the leave messages and closes the lanes; frames in the queue stay readable. Idempotent.
    void leave() {
        if (left) {
            return;
        }
        left = true;
        if (shared != null) {
            shared.abandon();
        }
        CloseHelper.quietCloseAll(
                this::sayGoodbye,
                counters::publish,
                counters,
                this::serveNobody,
                windows,
                memory::detach,
                repair,
                data,
                queue::leave,
                this::disconnect);
    }

    private void serveNobody() {
        if (serving != null) {
            serving.closeLane();
        }
    }

    private void sayGoodbye() {
        if (shared != null && machine.state() == State.RECEIVING && shared.hasHeirs()) {
            // One of those who follow goes on with the membership.
            return;
        }
        for (int i = 0; sourcePeer != NO_PEER && i < SessionContext.GOODBYES; i++) {
            machine.leave();
        }
    }

    private void disconnect() {
        connectCoRoot(null);
        if (sourcePeer != NO_PEER) {
            control.disconnect(sourcePeer);
            sourcePeer = NO_PEER;
        }
    }

    /// Whether memory can be freed while the subscriber goes on.
    ///
    /// @param listened whether the user listens for the end of sessions
    boolean isReleased(final boolean listened) {
        return left && queue.isQuiet(listened) && !protocol.isHeld();
    }

    /// Whether memory can be freed; the subscriber polls no more.
    boolean isDrained() {
        protocol.drain();
        return !protocol.isHeld();
    }

    @Override
    public MemorySegment control() {
        return control.slot();
    }

    @Override
    public long timeNs(final long nowNs) {
        return control.timeNs(nowNs);
    }

    @Override
    public void sendControl(final int bytes) {
        if (sourcePeer != NO_PEER) {
            control.unicast(sourcePeer, bytes);
        }
    }

    @Override
    public RemoteMemory remote() {
        return windows == null ? RemoteMemory.NONE : windows;
    }

    @Override
    public boolean connectCoRoot(final byte @Nullable [] controlAddress) {
        if (coRootPeer != NO_PEER) {
            control.disconnect(coRootPeer);
            coRootPeer = NO_PEER;
        }
        if (controlAddress == null) {
            return true;
        }
        coRootPeer = control.connect(controlAddress);
        return coRootPeer != NO_PEER;
    }

    @Override
    public void sendToCoRoot(final int bytes) {
        if (coRootPeer != NO_PEER) {
            control.unicastToMember(coRootPeer, bytes, receiverId);
        }
    }

    /// Frees the memory.
    @Override
    public void close() {
        CloseHelper.closeAll(serving, shared, memory, queue::close, opener);
    }
}
