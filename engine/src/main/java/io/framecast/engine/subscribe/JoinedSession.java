package io.framecast.engine.subscribe;

import io.framecast.api.Channel;
import io.framecast.api.SourceEvent;
import io.framecast.api.SourceOptions;
import io.framecast.api.StreamConfig;
import io.framecast.api.spi.Lane;
import io.framecast.engine.memory.RollbackOnFailure;
import io.framecast.engine.metrics.EngineCounter;
import io.framecast.engine.metrics.Labels;
import io.framecast.engine.session.CounterBoard;
import io.framecast.engine.session.Policies;
import io.framecast.engine.session.SessionContext;
import io.framecast.engine.sink.NicCopyEngine;
import io.framecast.engine.sink.ReceiveMemory;
import io.framecast.reliability.assembly.Assembly;
import io.framecast.reliability.assembly.MemoryShape;
import io.framecast.reliability.receive.ReceiverConfig;
import io.framecast.reliability.receive.ReceiverCount;
import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.receive.ReceiverMachine.State;
import io.framecast.reliability.session.ReceiveSession;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Verdict;
import java.lang.foreign.MemorySegment;
import java.util.function.IntConsumer;
import org.agrona.CloseHelper;

/// A source's session that a subscription joins: the protocol's [ReceiveSession], its lanes and memory, the
/// recipients of its frames, and the state of its life.
///
/// Threading: the conductor opens it, then the receiver's thread uses it; the conductor calls [#close].
public final class JoinedSession implements AutoCloseable {
    // A handshake without an answer for so long must not make other sources wait.
    private static final long STALE_NS = 1_000_000_000;
    // A handshake that takes longer is reported.
    private static final long SLOW_NS = 1_000_000_000;
    private static final long OBSTACLE_INTERVAL_NS = 200_000_000;

    private final SessionLanes lanes;
    private final ReceiveMemory memory;
    private final Admission admission;
    private final Membership membership;
    private final SessionQueue queue;
    private final FrameRecipients recipients;
    private final ReceiverMachine machine;
    private final ReceiveSession protocol;
    private final CounterBoard counters;
    private long heardNs;
    private long startedNs;
    private String obstacle = "";
    private long obstacleNs;
    private boolean joined;
    private boolean over;

    /// Makes the protocol's part; the handshake is not begun. The session owns lanes, memory and admission
    /// once the constructor returns.
    ///
    /// @param memory of this shape
    /// @param membership how it begins, and who takes its frames
    JoinedSession(
            final EngineSubscriber subscriber,
            final SessionContext context,
            final MemoryShape shape,
            final ReceiveMemory memory,
            final SessionLanes lanes,
            final Admission admission,
            final Membership membership) {
        this.lanes = lanes;
        this.memory = memory;
        this.admission = admission;
        this.membership = membership;
        final Channel channel = subscriber.channel();
        final StreamConfig config = channel.stream();
        final Delivery policy = membership.policy(Policies.onWire(config.delivery()));
        try (RollbackOnFailure opened = new RollbackOnFailure()) {
            final Assembly assembly = Assembly.of(shape, memory);
            machine = new ReceiverMachine(
                    receiverConfig(config, policy, context, shape, lanes.prepare(assembly)),
                    context.random(),
                    lanes,
                    lanes.service());
            queue = subscriber.openQueue(shape.stream(), memory, assembly);
            recipients = opened.add(membership.recipients(queue, shape, memory, assembly, machine, policy));
            protocol = new ReceiveSession(
                    machine,
                    assembly,
                    lanes.repairs(),
                    lanes.dataPort(),
                    lanes.repairPort(),
                    lanes.windows(),
                    recipients.consumer(),
                    recipients.dropPolicy(),
                    config.sources().joinAt() == SourceOptions.JoinAt.KEYFRAME);
            admission.guard(protocol);
            counters = opened.add(new CounterBoard(context.counters(), labels(channel, shape.stream())));
            count(assembly);
            opened.keep();
        }
    }

    private ReceiverConfig receiverConfig(
            final StreamConfig config,
            final Delivery policy,
            final SessionContext context,
            final MemoryShape shape,
            final int receiveCapacity) {
        return new ReceiverConfig(
                shape.stream(),
                admission.receiverId(),
                membership.secret(),
                shape.ringSlots() - shape.spareSlots(),
                receiveCapacity,
                config.reorderDatagrams(),
                policy,
                lanes.addresses(),
                context.epochOffsetNs(),
                Sites.number(config.coRoots().site()));
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
        lanes.count(counters);
        counters.verdicts(machine.verdicts())
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
        lanes.countOneSided(counters, counts);
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
        return lanes.repairLane();
    }

    /// The session's number.
    long id() {
        return queue.session();
    }

    /// Begins the handshake.
    ///
    /// @throws io.framecast.api.error.TransportException where the source announces an address that this
    ///     transport cannot use
    void start(final long nowNs) {
        heardNs = nowNs;
        startedNs = nowNs;
        lanes.connect(machine.stream());
        membership.start(machine, nowNs);
    }

    /// A control datagram that names this session.
    void onControl(final MemorySegment datagram, final long offset, final int bytes, final long nowNs) {
        if (machine.onControl(datagram, offset, bytes, nowNs) == Verdict.GOOD) {
            heardNs = nowNs;
            if (ControlLayout.type(datagram, offset) == ControlLayout.TYPE_HEARTBEAT) {
                queue.clock().onHeartbeat(datagram, offset, machine.clock(), lanes.timeNs(nowNs));
                recipients.onClock(machine.clock(), nowNs);
            }
        }
    }

    /// One duty cycle; after [#leave], it only takes back frames that the subscriber released.
    int doWork(final long nowNs) {
        if (lanes.hasLeft()) {
            return protocol.takeBack(nowNs);
        }
        if (membership.awaitsFollowers(machine, recipients, nowNs - startedNs, nowNs)) {
            return 0;
        }
        final int work = protocol.doWork(nowNs);
        recipients.onCycle(machine, nowNs);
        counters.tick(work, nowNs);
        return work;
    }

    /// The descriptors that wake the agent when data arrives.
    void collectDescriptors(final IntConsumer descriptors) {
        lanes.collectDescriptors(descriptors);
    }

    /// Whether each of the session's lanes has a descriptor of its own.
    boolean isPollable() {
        return lanes.isPollable();
    }

    /// Arms the lanes' wake-ups before the agent sleeps.
    void arm() {
        lanes.arm();
    }

    long nextDeadlineNs() {
        return lanes.hasLeft() ? Long.MAX_VALUE : protocol.nextDeadlineNs();
    }

    boolean mustPoll() {
        return lanes.hasLeft()
                || membership.isPending()
                || queue.isDraining()
                || protocol.isWaiting()
                || memory.isBusy();
    }

    /// Whether the subscriber has seen the start of this session.
    boolean isJoined() {
        return joined;
    }

    void onJoined() {
        joined = true;
        recipients.onJoined(protocol.firstFrameId());
    }

    /// Whether nothing follows, and the queue holds everything that arrived.
    boolean isOver() {
        return over;
    }

    void onOver() {
        over = true;
        // A handshake that failed is followed by another.
        if (joined) {
            recipients.onOver(machine.state() == State.ENDED);
        }
    }

    /// Whether it goes on with another leader's membership.
    boolean isResumed() {
        return membership.isResumed();
    }

    /// The source of a membership that goes on here does not answer: its followers have lost it too.
    void onSourceGone() {
        over = true;
        recipients.onOver(false);
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
        return lanes.hasLeft();
    }

    /// Sends the leave messages and closes the lanes; frames in the queue stay readable. Idempotent.
    void leave() {
        if (lanes.hasLeft()) {
            return;
        }
        recipients.abandon();
        CloseHelper.quietCloseAll(
                this::sendLeave, counters::publish, counters, lanes::leave, queue::leave, lanes::disconnect);
    }

    private void sendLeave() {
        if (machine.state() == State.RECEIVING && recipients.hasSuccessor()) {
            // The source must not end the membership.
            return;
        }
        for (int i = 0; lanes.isConnected() && i < SessionContext.GOODBYES; i++) {
            machine.leave();
        }
    }

    /// Whether memory can be freed while the subscriber goes on.
    ///
    /// @param listened whether the user listens for the end of sessions
    boolean isReleased(final boolean listened) {
        return lanes.hasLeft() && queue.isQuiet(listened) && !protocol.isHeld();
    }

    /// Whether memory can be freed; the subscriber polls no more.
    boolean isDrained() {
        protocol.drain();
        return !protocol.isHeld();
    }

    /// Frees the memory.
    @Override
    public void close() {
        CloseHelper.closeAll(lanes, recipients, memory, queue::close, admission);
    }
}
