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
import io.framecast.engine.subscribe.lanes.SessionLanes;
import io.framecast.engine.subscribe.protect.Admission;
import io.framecast.reliability.assembly.Assembly;
import io.framecast.reliability.assembly.MemoryShape;
import io.framecast.reliability.count.Export;
import io.framecast.reliability.membership.SourceMembership;
import io.framecast.reliability.receive.ReceiverConfig;
import io.framecast.reliability.receive.ReceiverCount;
import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.receive.ReceiverMachine.State;
import io.framecast.reliability.session.ReceiveSession;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Verdict;
import java.lang.foreign.MemorySegment;
import java.util.function.IntConsumer;
import org.agrona.CloseHelper;

/// A source's session that a subscription joins: the protocol's [ReceiveSession], its lanes and memory, and the
/// recipients of its frames. [SourceMembership] has the state of its life.
///
/// Threading: the conductor opens it, then the receiver's thread uses it; the conductor calls [#close].
public final class JoinedSession implements AutoCloseable {
    private final SessionLanes lanes;
    private final ReceiveMemory memory;
    private final Admission admission;
    private final Membership membership;
    private final SessionQueue queue;
    private final FrameRecipients recipients;
    private final ReceiverMachine machine;
    private final ReceiveSession protocol;
    private final SourceMembership life;
    private final CounterBoard counters;
    private String obstacle = "";

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
            final PostedTargets targets = new PostedTargets(subscriber.posted(), memory);
            final Assembly assembly = Assembly.of(shape, memory, targets);
            machine = new ReceiverMachine(
                    receiverConfig(config, policy, context, shape, lanes.prepare(assembly)),
                    context.random(),
                    lanes,
                    lanes.service());
            queue = subscriber.openQueue(shape.stream(), memory, assembly, targets);
            recipients = opened.add(membership.recipients(queue, shape, memory, assembly, machine, policy));
            protocol = protocol(assembly, config.sources().joinAt());
            life = membership.begin(queue.session(), protocol);
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

    private ReceiveSession protocol(final Assembly assembly, final SourceOptions.JoinAt joinAt) {
        return new ReceiveSession(
                        machine,
                        assembly,
                        lanes.repairs(),
                        lanes.dataPort(),
                        lanes.repairPort(),
                        recipients.consumer(),
                        recipients.dropPolicy())
                .readBy(lanes.windows())
                .joinAtKeyframe(joinAt == SourceOptions.JoinAt.KEYFRAME);
    }

    // With one source the counters keep their labels through all its sessions.
    private static String labels(final Channel channel, final StreamInfo stream) {
        final String name = Labels.of("channel", channel.name());
        return channel.stream().sources().count() == 1
                ? name
                : Labels.join(name, Labels.of("session", SourceEvent.sessionText(stream.session())));
    }

    private void count(final Assembly assembly) {
        lanes.count(counters);
        counters.verdicts(machine.verdicts())
                .triggers(machine)
                .counts(machine.counts(), ReceiverCount::export, Export.Scope.SESSION)
                .add(EngineCounter.REASSEMBLED_BYTES, assembly::reassembledBytes)
                .add(EngineCounter.REPAIRS_REFUSED, assembly::refusedRepairs)
                .add(EngineCounter.STORED_BYTES, memory::storedBytes);
        final NicCopyEngine nic = memory.nic();
        if (nic != null) {
            counters.copies(nic);
        }
        lanes.countOneSided(counters, machine.counts());
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

    /// The state of its life.
    SourceMembership life() {
        return life;
    }

    /// Begins the handshake.
    ///
    /// @throws io.framecast.api.error.TransportException where the source announces an address that this
    ///     transport cannot use
    void start(final long nowNs) {
        lanes.connect(machine.stream());
        membership.start(machine, nowNs);
    }

    /// A control datagram that names this session.
    void onControl(final MemorySegment datagram, final long offset, final int bytes, final long nowNs) {
        if (machine.onControl(datagram, offset, bytes, nowNs) == Verdict.GOOD) {
            life.onHeard(nowNs);
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
        if (membership.awaitsFollowers(machine, recipients, life.waitedNs(nowNs), nowNs)) {
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

    /// The receiver is a member.
    void onJoined() {
        recipients.onJoined(protocol.firstFrameId());
    }

    /// The stream ended, or the source was lost: nothing follows. A handshake that failed is followed by another.
    void onOver() {
        recipients.onOver(machine.state() == State.ENDED);
    }

    /// The obstacle of the handshake, in one line; empty where the handshake did not take long.
    String obstacle() {
        return obstacle;
    }

    void onObstacle(final String line) {
        obstacle = line;
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
                this::leaveSource, counters::publish, counters, lanes::leave, queue::leave, lanes::disconnect);
    }

    private void leaveSource() {
        if (machine.state() == State.RECEIVING) {
            recipients.endMembership(this::sendLeave);
        } else {
            sendLeave();
        }
    }

    private void sendLeave() {
        for (int i = 0; lanes.isConnected() && i < SessionContext.GOODBYES; i++) {
            machine.leave();
        }
    }

    /// Whether memory can be freed while the subscriber goes on.
    ///
    /// @param listener to the end of sessions
    boolean isReleased(final SourceListener listener) {
        return lanes.hasLeft() && !listener.needs(queue) && !protocol.isHeld();
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
