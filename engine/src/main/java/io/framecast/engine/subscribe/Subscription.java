package io.framecast.engine.subscribe;

import io.framecast.api.Channel;
import io.framecast.api.LossReason;
import io.framecast.api.SourceEvent;
import io.framecast.api.SourceOptions;
import io.framecast.api.Subscriber;
import io.framecast.api.error.TransportException;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.Transport;
import io.framecast.engine.memory.RollbackOnFailure;
import io.framecast.engine.metrics.EngineCounter;
import io.framecast.engine.metrics.Labels;
import io.framecast.engine.port.ControlLane;
import io.framecast.engine.port.LossInjector;
import io.framecast.engine.ready.ReadySet;
import io.framecast.engine.session.CounterBoard;
import io.framecast.engine.session.DisconnectReason;
import io.framecast.engine.session.Failures;
import io.framecast.engine.session.ForeignTraffic;
import io.framecast.engine.session.Policies;
import io.framecast.engine.session.SessionAgent;
import io.framecast.engine.session.SessionContext;
import io.framecast.reliability.flow.Standstill;
import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.wire.CoRootOffer;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.HeartbeatLayout;
import io.framecast.reliability.wire.JoinLayout;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.LeaveLayout.Reason;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Verdict;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.util.function.IntConsumer;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// A subscriber's life on its channel. It listens on the control lane until it hears a source of the channel's
/// name. Then the conductor opens a session, and the subscription runs it to its end. It runs as many sessions at a
/// time as the subscriber wants sources. With `rejoin` it waits for a source that was lost.
///
/// Threading: [#doWork] by the receiver's thread; [#open] and [#close] by the conductor's. Queues carry the
/// commands between them.
public final class Subscription implements SessionAgent.Member, AutoCloseable {
    private static final int WARM_UP_SLOT_BYTES = 1024;
    private static final int WARM_UP_SLOTS = 64;
    private static final long STATS_INTERVAL_NS = 20_000_000;
    private static final long CONTROL_INTERVAL_NS = 100_000;
    private static final long NEVER = Long.MAX_VALUE;
    // A quarter of this time between two duty cycles counts as a standstill: the receiver read nothing meanwhile.
    private static final long STANDSTILL_NS = 4_000_000_000L;

    private final EngineSubscriber subscriber;
    private final GroupRole group;
    private final Channel channel;
    private final SourceOptions options;
    private final Transport transport;
    private final ReceiverAgent receiver;
    private final ControlLane control;
    private final JoinedSessionFactory factory;
    private final SecureRandom secrets = new SecureRandom();
    private final StreamProtection protection;
    private final CounterBoard counters;
    private final HeaderChecksum checksum = new HeaderChecksum();
    private final ControlLane.Handler onControl = this::onControl;
    private final GroupRole.Heir heir = this::begin;
    // At most twice as many as sources: sessions that are over stay until the subscriber has taken everything.
    private final JoinedSessions sessions = new JoinedSessions();
    private final JoinBackoff backoff = new JoinBackoff();
    private final Rejoin rejoin;
    private final SourceNotices notices;
    private final ForeignTraffic foreign;
    // Malformed control datagrams that arrived while there was no session to count them.
    private long strays;
    private final Standstill standstill = new Standstill(STANDSTILL_NS);
    // The cause that kept this subscriber from a source, and the source. Its later end does not replace it.
    private String obstacle = "";
    private long obstacleSession;
    // The conductor is opening a session.
    private boolean opening;
    // The subscriber has received its last state.
    private boolean over;
    // The subscription is closing or closed.
    private boolean leaving;
    private boolean lanesClosed;
    private boolean busy;
    private long controlDueNs;
    private boolean statsDue;
    private long statsNs;

    /// @param group the subscriber's role in its host group, this object's from now on
    /// @param transport this object's from now on
    public Subscription(
            final EngineSubscriber subscriber,
            final GroupRole group,
            final Transport transport,
            final SessionContext context,
            final ReceiverAgent receiver) {
        this.subscriber = subscriber;
        this.group = group;
        this.transport = transport;
        this.receiver = receiver;
        channel = subscriber.channel();
        options = channel.stream().sources();
        rejoin = new Rejoin(channel.stream().rejoinMs(), options.count() == 1);
        notices = new SourceNotices(subscriber, context.notices());
        final LossInjector loss = new LossInjector(context.lossProbability(), context.seed());
        try (RollbackOnFailure opened = new RollbackOnFailure()) {
            control = opened.add(new ControlLane(transport, LaneConfig.Role.RECEIVER, loss, context.clock()));
            protection = StreamProtection.of(
                    channel.link().security(),
                    control,
                    onControl,
                    session -> opening || sessions.find(session) != null,
                    notices,
                    secrets);
            opened.keep();
        }
        foreign = ForeignTraffic.ofSubscriber(
                channel,
                () -> strays + ForeignTraffic.datagrams(control.lane()) + sessions.foreignDatagrams(),
                context.notices());
        factory = new JoinedSessionFactory(subscriber, transport, context, control, loss);
        counters = new CounterBoard(context.counters(), Labels.of("channel", channel.name()))
                .stream("subscriber", channel.transport())
                        .sends(control.lane(), "control")
                        .receives(control.lane(), "control")
                        .losses(this::lost);
        protection.count(counters);
        counters.add(EngineCounter.FRAMES_DELIVERED, subscriber::frames)
                .add(EngineCounter.BYTES_DELIVERED, subscriber::bytes)
                .add(EngineCounter.FRAMES_IN_PLACE, subscriber::inPlaceFrames)
                .add(EngineCounter.SOURCES_JOINED, this::sources)
                .add(EngineCounter.REJOINS, rejoin::count)
                .device(subscriber.device())
                .registrations(transport);
    }

    /// Instead of a life: opens a session and closes all, so that the classes are there. Nothing is
    /// sent, and what comes is not read. The caller's thread.
    public void warmUp() {
        leaving = true;
        final byte[] own = control.address().toBytes();
        final StreamInfo stream = new StreamInfo(
                1, channel.name(), WARM_UP_SLOT_BYTES, WARM_UP_SLOTS, WARM_UP_SLOT_BYTES, 1000, own, own);
        try {
            sessions.add(factory.open(stream, new Admission.Plain(1), group.join(secrets.nextLong()), Runnable::run));
        } finally {
            closeLanes();
            close();
        }
    }

    @Override
    public String name() {
        return notices.name();
    }

    public EngineSubscriber subscriber() {
        return subscriber;
    }

    /// The session of the source that was heard first among the remaining ones; null for none.
    @Nullable
    public JoinedSession session() {
        return sessions.size() == 0 ? null : sessions.get(0);
    }

    /// The number of sources that deliver frames.
    public int sources() {
        return sessions.receiving();
    }

    /// Frames lost, reported or not.
    public long lost(final LossReason reason) {
        return sessions.lost(reason);
    }

    @Override
    public int readyDescriptor() {
        return transport.readyDescriptor();
    }

    @Override
    public void collectDescriptors(final IntConsumer descriptors) {
        if (!leaving) {
            descriptors.accept(control.lane().readyDescriptor());
            sessions.collectDescriptors(descriptors);
        }
    }

    @Override
    public void arm() {
        if (!leaving) {
            control.lane().armReady();
            sessions.arm();
        }
    }

    private boolean isPollable() {
        return transport.readyDescriptor() != ReadySet.NONE
                || (control.lane().readyDescriptor() != ReadySet.NONE && sessions.arePollable());
    }

    @Override
    public long nextDeadlineNs() {
        if (leaving) {
            return NEVER;
        }
        final boolean waiting = !over && !opening && sessions.joining() == null;
        return Math.min(
                Math.min(waiting ? rejoin.deadlineNs() : NEVER, protection.nextDeadlineNs()),
                sessions.nextDeadlineNs());
    }

    @Override
    public boolean mustPoll() {
        return !leaving && (!isPollable() || sessions.mustPoll());
    }

    @Override
    public int doWork(final long nowNs) {
        if (leaving) {
            return 0;
        }
        onCycle(nowNs);
        group.onCycle();
        if (!opening && !over) {
            // The membership of an earlier leader of the host group goes on before any other source is heard.
            group.takeOver(protection, nowNs, heir);
        }
        int work = pollControl(nowNs);
        busy = false;
        // Backwards, because the loop may remove a session.
        for (int i = sessions.size() - 1; i >= 0; i--) {
            final JoinedSession session = sessions.get(i);
            final int done = session.doWork(nowNs);
            busy |= done > 0;
            work += done;
            if (!over) {
                report(session, nowNs);
            }
            if (leaving) {
                return work;
            }
            if (session.isReleased(subscriber.isListened())) {
                free(session);
            }
        }
        if (!over) {
            publishState(nowNs);
        }
        foreign.tick(nowNs);
        if (!over && sources() == 0) {
            protection.noticeStrangers(nowNs);
        }
        statsDue |= work > 0;
        if (statsDue && nowNs >= statsNs) {
            statsDue = false;
            statsNs = nowNs + STATS_INTERVAL_NS;
            publishStats();
        }
        counters.tick(work, nowNs);
        return work;
    }

    // After a standstill of this process, the deadlines for a source or its answer move back by as much.
    private void onCycle(final long nowNs) {
        final long stoodNs = standstill.onCycle(nowNs);
        if (stoodNs == 0) {
            return;
        }
        rejoin.onStandstill(stoodNs);
        final JoinedSession joining = sessions.joining();
        if (joining != null) {
            joining.onStandstill(nowNs);
        }
    }

    // While data arrives, the control lane carries little.
    private int pollControl(final long nowNs) {
        if (busy && nowNs < controlDueNs) {
            return 0;
        }
        controlDueNs = nowNs + CONTROL_INTERVAL_NS;
        final int work = protection.doWork(nowNs);
        return work + control.poll(onControl, nowNs);
    }

    private void onControl(final MemorySegment datagram, final long offset, final int bytes, final long nowNs) {
        final JoinedSession session = sessions.find(ControlLayout.SESSION.get(datagram, offset));
        if (session != null) {
            session.onControl(datagram, offset, bytes, nowNs);
            return;
        }
        final JoinedSession other = sessions.any();
        if (other != null) {
            // That session counts the datagram, as another session's or as malformed.
            other.onControl(datagram, offset, bytes, nowNs);
        }
        if (!over && !opening && sources() < options.count()) {
            listen(datagram, offset, bytes, nowNs);
        }
    }

    private void listen(final MemorySegment datagram, final long offset, final int bytes, final long nowNs) {
        if (ControlLayout.check(datagram, offset, bytes, checksum) != Verdict.GOOD) {
            strays += sessions.any() == null ? 1 : 0;
            notices.onMalformed(datagram, offset, bytes, nowNs);
            return;
        }
        if (ControlLayout.type(datagram, offset) != ControlLayout.TYPE_HEARTBEAT
                || !HeartbeatLayout.isValid(datagram, offset)
                || (ControlLayout.FLAGS.get(datagram, offset) & HeartbeatLayout.FLAG_END_OF_STREAM) != 0
                || backoff.contains(ControlLayout.SESSION.get(datagram, offset), nowNs)
                || rejoin.isOver(ControlLayout.SESSION.get(datagram, offset), nowNs)) {
            return;
        }
        final StreamInfo stream = HeartbeatLayout.info(datagram, offset);
        if (stream.channel().equals(channel.name()) && hasRoom(nowNs) && group.mayJoin()) {
            begin(stream, group.join(secrets.nextLong()));
        }
    }

    // Asks the conductor for a session.
    private void begin(final StreamInfo stream, final Membership membership) {
        final Admission admission = protection.admission(stream);
        receiver.conductor().send(() -> open(stream, admission, membership));
        // Set only after the request: if the conductor refuses it, the subscription waits for nothing.
        opening = true;
    }

    // Whether one more source has a place. Sources join one after another, so that forged sources take one place at
    // most. A place that is blocked by a stale or finished session is freed here.
    private boolean hasRoom(final long nowNs) {
        final JoinedSession joining = sessions.joining();
        if (joining != null) {
            if (joining.isStale(nowNs)) {
                final String before = obstacle(joining);
                obstacle = before;
                obstacleSession = joining.id();
                decline(
                        joining,
                        before.isEmpty()
                                ? "join failed: a source was heard and does not answer; is it running?"
                                : before + "; then the source fell silent",
                        nowNs);
            }
            return false;
        }
        if (sessions.size() >= 2 * options.count()) {
            sessions.forgetEnded(NEVER);
        }
        return sessions.size() < 2 * options.count();
    }

    // Conductor: makes a session's memory, lanes and machine. A subscription without an answer would wait for ever.
    private void open(final StreamInfo stream, final Admission admission, final Membership membership) {
        final long source = stream.session();
        try (membership) {
            factory.requireSeal(stream.seal());
            final JoinedSession made = factory.open(stream, admission, membership, receiver.conductor()::send);
            receiver.send(() -> attach(made, receiver.nowNs()));
        } catch (final IncompatibleSourceException e) {
            CloseHelper.quietClose(admission);
            final String reason = String.valueOf(e.getMessage());
            receiver.send(() -> {
                if (e.isOfRingMax()) {
                    refuse(stream, admission);
                }
                decline(source, reason, receiver.nowNs());
            });
        } catch (final RuntimeException | Error e) {
            CloseHelper.quietClose(admission);
            final String reason = Failures.line("subscriber", e);
            receiver.send(() -> refuse(source, reason, receiver.nowNs()));
        }
    }

    // Receiver: a JOIN without a ring, so that the source's operator hears of this subscriber too.
    private void refuse(final StreamInfo stream, final Admission admission) {
        if (!leaving) {
            final byte[] own = control.address().toBytes();
            final JoinLayout.Terms terms = new JoinLayout.Terms(
                    JoinLayout.NO_RING,
                    Policies.onWire(channel.stream().delivery()),
                    secrets.nextLong(),
                    new LaneAddresses(own, own),
                    CoRootOffer.NONE);
            final ControlWriter writer = new ControlWriter(stream.session())
                    .receiver(admission.receiverId())
                    .in(control.slot());
            control.unicastTo(stream.controlAddress(), JoinLayout.write(writer, terms));
        }
    }

    // Receiver: takes the session the conductor made.
    private void attach(final JoinedSession made, final long nowNs) {
        opening = false;
        sessions.add(made);
        if (leaving) {
            closeLanes();
            return;
        }
        try {
            made.protocol().resumeFrom(rejoin.nextFrameId(made.id()));
            made.start(nowNs);
        } catch (final TransportException e) {
            // The transport cannot use the source's address.
            decline(made, Failures.line("join of " + channel.name(), e), nowNs);
        } catch (final RuntimeException e) {
            fail(Failures.line("join of " + channel.name(), e));
        }
    }

    // Receiver: the conductor could not open a session, for a cause that is not the source's. Other sessions go
    // on.
    private void refuse(final long source, final String reason, final long nowNs) {
        if (options.count() > 1 && sessions.size() > 0) {
            decline(source, reason, nowNs);
            return;
        }
        opening = false;
        fail(reason);
    }

    // Receiver: the conductor could not open a session, because of this source's announced configuration. The
    // subscription listens for another source, or for the same one later.
    private void decline(final long source, final String reason, final long nowNs) {
        opening = false;
        backoff.add(source, nowNs);
        if (leaving) {
            closeLanes();
            return;
        }
        if (sources() == 0) {
            subscriber.onAlone(reason);
        }
        notices.onDeclined(reason);
    }

    // The source does not match this subscription, or does not answer. The session's memory is freed.
    private void decline(final JoinedSession session, final String reason, final long nowNs) {
        session.onOver();
        session.leave();
        protection.forget(session.id());
        free(session);
        decline(session.id(), reason, nowNs);
    }

    private void free(final JoinedSession session) {
        if (!sessions.remove(session)) {
            return;
        }
        subscriber.remove(session.queue());
        receiver.conductor().send(session::close);
    }

    /// Frames, device and subscriber stay valid until the user closes them.
    @Override
    public void fail(final String reason) {
        if (!over && !leaving) {
            subscriber.onEnd(Subscriber.State.FAILED, reason);
        }
        over = true;
        leave();
    }

    private void report(final JoinedSession session, final long nowNs) {
        if (session.protocol().isStarted() && !session.isJoined()) {
            onJoined(session);
        }
        if (session.isOver()) {
            return;
        }
        final ReceiverMachine machine = session.machine();
        final long stoodNs = session.protocol().standstillNs();
        if (stoodNs > 0) {
            notices.onStandstill(stoodNs, nowNs);
        }
        switch (machine.state()) {
            case JOINING, PROBING, STARTING -> {
                if (session.isObstacleDue(nowNs)) {
                    session.onObstacle(DisconnectReason.joining(machine));
                    if (sources() == 0) {
                        subscriber.onAlone(session.obstacle());
                    }
                }
            }
            case RECEIVING -> {}
            case ENDED -> {
                if (session.protocol().isEnded()) {
                    onEnded(session);
                }
            }
            case LOST -> {
                // Frames that were complete when the source was lost are delivered first.
                if (!session.isJoined() && session.isResumed()) {
                    onGone(session, DisconnectReason.lost(machine, nowNs), nowNs);
                } else if (!session.isJoined()) {
                    declineUnjoined(session, nowNs);
                } else if (session.protocol().isEnded()) {
                    onLost(session, DisconnectReason.lost(machine, nowNs), nowNs);
                }
            }
            case REFUSED -> {
                if (machine.lostReason() == Reason.RING_TOO_SMALL
                        && channel.stream().ringBytes() > 0
                        && options.count() == 1) {
                    over = true;
                    subscriber.onEnd(Subscriber.State.FAILED, DisconnectReason.notJoined(machine, ""));
                } else {
                    declineUnjoined(session, nowNs);
                }
            }
        }
    }

    private void declineUnjoined(final JoinedSession session, final long nowNs) {
        final ReceiverMachine machine = session.machine();
        final String before = obstacle(session);
        final String reason = DisconnectReason.notJoined(machine, before);
        obstacle = DisconnectReason.hasSourceClosed(machine) ? before : reason;
        obstacleSession = session.id();
        decline(session, reason, nowNs);
    }

    // Of this attempt to join, or of an earlier one.
    private String obstacle(final JoinedSession session) {
        return session.obstacle().isEmpty() && session.id() == obstacleSession ? obstacle : session.obstacle();
    }

    private void onJoined(final JoinedSession session) {
        obstacle = "";
        final boolean again = rejoin.onJoined(session.id());
        session.onJoined();
        final SourceEvent.Kind kind = again ? SourceEvent.Kind.REJOINED : SourceEvent.Kind.JOINED;
        final SourceEvent event =
                new SourceEvent(session.id(), kind, session.protocol().firstFrameId(), "");
        subscriber.add(session.queue(), event, session.protocol().firstReportedId(), options.count() == 1);
        publishStats();
    }

    private void onEnded(final JoinedSession session) {
        session.onOver();
        rejoin.onEnded(session.id());
        publishStats();
        subscriber.end(session.queue(), ended(session, SourceEvent.Kind.ENDED, ""));
        if (options.count() == 1) {
            over = true;
            subscriber.onState(Subscriber.State.END_OF_STREAM);
        }
    }

    // The source was lost together with the leader whose membership goes on here.
    private void onGone(final JoinedSession session, final String reason, final long nowNs) {
        session.onSourceGone();
        rejoin.onLost(session.id(), session.protocol().nextFrameId(), reason, nowNs);
        if (rejoin.endsWithSource()) {
            over = true;
            subscriber.onEnd(Subscriber.State.SOURCE_LOST, reason);
            return;
        }
        session.leave();
        protection.forget(session.id());
        subscriber.onAlone(reason);
        notices.accept(reason);
    }

    private void onLost(final JoinedSession session, final String reason, final long nowNs) {
        session.onOver();
        publishStats();
        subscriber.end(session.queue(), ended(session, SourceEvent.Kind.LOST, reason));
        rejoin.onLost(session.id(), session.protocol().nextFrameId(), reason, nowNs);
        if (rejoin.endsWithSource()) {
            over = true;
            subscriber.onEnd(Subscriber.State.SOURCE_LOST, reason);
            return;
        }
        session.leave();
        protection.forget(session.id());
        if (sources() == 0) {
            subscriber.onAlone(reason);
        }
        if (!subscriber.isListened()) {
            notices.accept(reason);
        }
    }

    private static SourceEvent ended(final JoinedSession session, final SourceEvent.Kind kind, final String reason) {
        return new SourceEvent(session.id(), kind, SourceEvent.NO_FRAME, reason);
    }

    private void publishState(final long nowNs) {
        if (options.count() > 1) {
            sessions.forgetEnded(nowNs);
        } else if (rejoin.isInVain(nowNs) && !opening && sessions.joining() == null) {
            // A session that is joining before the deadline may still complete.
            over = true;
            subscriber.onEnd(Subscriber.State.SOURCE_LOST, rejoin.inVain());
            return;
        }
        subscriber.onState(sources() > 0 ? Subscriber.State.READY : Subscriber.State.JOINING);
    }

    private void publishStats() {
        subscriber.onStats(sessions.stats(rejoin.count()));
        notices.onDamaged(sessions.lost(LossReason.DAMAGED));
    }

    /// Receiver: leaves the channel and closes the lanes; the user's frames stay readable. Idempotent.
    void leave() {
        leaving = true;
        if (!opening) {
            closeLanes();
        }
    }

    private void closeLanes() {
        if (!lanesClosed) {
            lanesClosed = true;
            CloseHelper.quietCloseAll(
                    group, sessions::leave, counters::publish, counters, control, transport, protection);
        }
    }

    /// Whether the memory can be freed.
    boolean isReleased() {
        return !opening && sessions.areDrained() && !isBusy();
    }

    /// Whether the device still runs work, perhaps a kernel of the user: a thread that freed the memory now would
    /// wait for it.
    public boolean isBusy() {
        return subscriber.device().isBusy();
    }

    @Override
    public void close() {
        CloseHelper.closeAll(sessions::close, subscriber.posted()::close, subscriber.device());
    }
}
