package io.framecast.engine.node;

import io.framecast.api.Channel;
import io.framecast.api.LossCounts;
import io.framecast.api.LossReason;
import io.framecast.api.SourceEvent;
import io.framecast.api.SourceOptions;
import io.framecast.api.Subscriber;
import io.framecast.api.SubscriberStats;
import io.framecast.api.error.TransportException;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.Transport;
import io.framecast.engine.port.ControlLane;
import io.framecast.engine.port.LossInjector;
import io.framecast.engine.ready.ReadySet;
import io.framecast.reliability.ReceiverMachine;
import io.framecast.reliability.Standstill;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.HeartbeatLayout;
import io.framecast.reliability.wire.LeaveLayout.Reason;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Verdict;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// A subscriber's life on its channel: listens on the control lane until a source of the channel's name is
/// heard, has the conductor open a session for it, runs that session to its end; and as many beside it as the
/// subscriber wants sources. Waits for one that was lost, where it was told to.
///
/// Threading: [#doWork] by the receiver's thread; [#open] and [#close] by the conductor's, handed over
/// through queues.
final class Subscription implements AutoCloseable {
    private static final long STATS_INTERVAL_NS = 20_000_000;
    private static final long CONTROL_INTERVAL_NS = 100_000;
    private static final long NEVER = Long.MAX_VALUE;
    /// One that stands still again and again need not say so each time.
    static final long STANDSTILL_NOTICE_NS = 10_000_000_000L;
    // A quarter of it between two duty cycles: nobody listened meanwhile.
    private static final long STANDSTILL_NS = 4_000_000_000L;

    /// Asks the conductor to make and free sessions.
    interface Opener {
        void open(Subscription subscription, StreamInfo stream);

        /// Frees the memory of a session whose lanes are closed.
        void free(ReceiverSession session);

        /// Does something else that may take long, before anything that is asked for later.
        void run(Runnable task);
    }

    private final EngineSubscriber subscriber;
    private final Channel channel;
    private final SourceOptions options;
    private final Transport transport;
    private final SessionContext context;
    private final Opener opener;
    private final ControlLane control;
    private final ReceiverSessionFactory maker;
    private final CounterBoard counters;
    private final HeaderChecksum checksum = new HeaderChecksum();
    private final ControlLane.Handler onControl = this::onControl;
    // At most twice as many as sources: those that are over stay until the subscriber has taken everything.
    private final ReceiverSessions links = new ReceiverSessions();
    private final JoinBackoff shunned = new JoinBackoff();
    private final EndedSessions past = new EndedSessions();
    private final ForeignTraffic foreign;
    // Control datagrams that are none, while there was no session to count them.
    private long strays;
    private long standstillNoticeNs;
    private final Standstill standstill = new Standstill(STANDSTILL_NS);
    private String declined = "";
    private long damagedTold;
    private long rejoins;
    // With one source: when it is not waited for any more, and why it was lost.
    private long returnNs = NEVER;
    private String lostReason = "";
    // The conductor makes a session.
    private boolean opening;
    // Nothing more is told to the subscriber.
    private boolean over;
    // To be closed, or closed already.
    private boolean leaving;
    private boolean lanesClosed;
    private boolean busy;
    private long controlDueNs;
    private boolean statsDue;
    private long statsNs;

    Subscription(
            final EngineSubscriber subscriber,
            final Transport transport,
            final SessionContext context,
            final Opener opener) {
        this.subscriber = subscriber;
        this.transport = new SharedTransport(transport);
        this.context = context;
        this.opener = opener;
        channel = subscriber.channel();
        options = channel.stream().sources();
        final LossInjector loss = new LossInjector(context.lossProbability(), context.seed());
        control = new ControlLane(this.transport, LaneConfig.Role.RECEIVER, loss);
        foreign = ForeignTraffic.ofSubscriber(
                channel,
                () -> strays + ForeignTraffic.datagrams(control.lane()) + links.foreignDatagrams(),
                context.notices());
        maker = new ReceiverSessionFactory(subscriber, this.transport, context, control, loss);
        counters = SubscriberCounters.open(context.counters(), subscriber, control.lane(), this.transport, this);
    }

    String channelName() {
        return channel.name();
    }

    EngineSubscriber subscriber() {
        return subscriber;
    }

    /// Of the source heard first among those that are left; null for none.
    @Nullable
    ReceiverSession session() {
        return links.size() == 0 ? null : links.get(0);
    }

    /// Sources that frames come from.
    int sources() {
        return links.receiving();
    }

    /// Sources joined again.
    long rejoins() {
        return rejoins;
    }

    /// Frames that were lost, told or not.
    long lost(final LossReason reason) {
        return links.lost(reason);
    }

    /// What ends an agent's sleep when peers speak.
    int readyDescriptor() {
        return transport.readyDescriptor();
    }

    /// What ends an agent's sleep when data arrives.
    void tellDescriptors(final IntConsumer told) {
        if (!leaving) {
            told.accept(control.lane().readyDescriptor());
            links.tellDescriptors(told);
        }
    }

    /// The agent means to sleep.
    void arm() {
        if (!leaving) {
            control.lane().armReady();
            links.arm();
        }
    }

    private boolean isShown() {
        return transport.readyDescriptor() != ReadySet.NONE
                || (control.lane().readyDescriptor() != ReadySet.NONE && links.areShown());
    }

    /// When a timer is due.
    long nextDeadlineNs() {
        if (leaving) {
            return NEVER;
        }
        final boolean waiting = !over && !opening && links.joining() == null;
        return Math.min(waiting ? returnNs : NEVER, links.nextDeadlineNs());
    }

    /// Whether something is awaited that does not show.
    boolean mustLook() {
        return !leaving && (!isShown() || links.mustLook());
    }

    /// One duty cycle.
    int doWork(final long nowNs) {
        if (leaving) {
            return 0;
        }
        onCycle(nowNs);
        int work = pollControl(nowNs);
        busy = false;
        // Backwards, for one may be taken out.
        for (int i = links.size() - 1; i >= 0; i--) {
            final ReceiverSession link = links.get(i);
            final int done = link.doWork(nowNs);
            busy |= done > 0;
            work += done;
            if (!over) {
                report(link, nowNs);
            }
            if (leaving) {
                return work;
            }
            if (link.isReleased(subscriber.isListened())) {
                free(link);
            }
        }
        if (!over) {
            tellState(nowNs);
        }
        foreign.tick(nowNs);
        statsDue |= work > 0;
        if (statsDue && nowNs >= statsNs) {
            statsDue = false;
            statsNs = nowNs + STATS_INTERVAL_NS;
            publishStats();
        }
        counters.tick(nowNs);
        return work;
    }

    // Where this process stood still, what waits for a source or its answer waits so much longer.
    private void onCycle(final long nowNs) {
        final long stoodNs = standstill.onCycle(nowNs);
        if (stoodNs == 0) {
            return;
        }
        returnNs = returnNs == NEVER ? NEVER : returnNs + stoodNs;
        past.onStandstill(stoodNs);
        final ReceiverSession joining = links.joining();
        if (joining != null) {
            joining.onStandstill(nowNs);
        }
    }

    // While data comes, sources have little to say.
    private int pollControl(final long nowNs) {
        if (busy && nowNs < controlDueNs) {
            return 0;
        }
        controlDueNs = nowNs + CONTROL_INTERVAL_NS;
        return control.poll(onControl, nowNs);
    }

    private void onControl(final MemorySegment datagram, final long offset, final int bytes, final long nowNs) {
        final ReceiverSession link = links.find(ControlLayout.session(datagram, offset));
        if (link != null) {
            link.onControl(datagram, offset, bytes, nowNs);
            return;
        }
        final ReceiverSession other = links.any();
        if (other != null) {
            // It is counted there, as no datagram of its session or none at all.
            other.onControl(datagram, offset, bytes, nowNs);
        }
        if (!over && !opening && sources() < options.count()) {
            listen(datagram, offset, bytes, nowNs);
        }
    }

    private void listen(final MemorySegment datagram, final long offset, final int bytes, final long nowNs) {
        if (ControlLayout.check(datagram, offset, bytes, checksum) != Verdict.GOOD) {
            strays += links.any() == null ? 1 : 0;
            return;
        }
        if (ControlLayout.type(datagram, offset) != ControlLayout.TYPE_HEARTBEAT
                || !HeartbeatLayout.isValid(datagram, offset)
                || (ControlLayout.flags(datagram, offset) & HeartbeatLayout.FLAG_END_OF_STREAM) != 0
                || shunned.contains(ControlLayout.session(datagram, offset), nowNs)
                || past.isOver(ControlLayout.session(datagram, offset), nowNs)) {
            return;
        }
        final StreamInfo stream = HeartbeatLayout.info(datagram, offset);
        if (stream.channel().equals(channel.name()) && hasRoom(nowNs)) {
            opener.open(this, stream);
            // Behind it: where the conductor takes no more, nothing is awaited that never comes.
            opening = true;
        }
    }

    // Whether there is a place for one more source: they join one after another, so that whoever only claims
    // to be one takes no more than one place. What is in the way and of no more use is taken out of it.
    private boolean hasRoom(final long nowNs) {
        final ReceiverSession joining = links.joining();
        if (joining != null) {
            if (joining.isStale(nowNs)) {
                decline(joining, "join failed: a source was heard and does not answer; is it running?", nowNs);
            }
            return false;
        }
        if (links.size() >= 2 * options.count()) {
            links.forgetEnded(NEVER);
        }
        return links.size() < 2 * options.count();
    }

    /// Conductor: makes the session's memory, lanes and machine.
    ///
    /// @return what [#attach] takes
    /// @throws IncompatibleSourceException where what the source says of itself is to blame: listen to another
    /// @throws io.framecast.api.error.FramecastException with one line that names the mend
    ReceiverSession open(final StreamInfo stream) {
        return maker.open(stream, opener::run);
    }

    /// Receiver: takes the session the conductor made.
    void attach(final ReceiverSession made, final long nowNs) {
        opening = false;
        links.add(made);
        if (leaving) {
            closeLanes();
            return;
        }
        try {
            made.protocol().resumeFrom(past.nextFrameId(made.id()));
            made.start(nowNs);
        } catch (final TransportException e) {
            // No address of this transport.
            decline(made, Failures.line("join of " + channel.name(), e), nowNs);
        } catch (final RuntimeException e) {
            fail(Failures.line("join of " + channel.name(), e));
        }
    }

    /// Receiver: the conductor could not make a session, and not for the source's fault. Others that are
    /// received from go on.
    void refuse(final long source, final String reason, final long nowNs) {
        if (options.count() > 1 && links.size() > 0) {
            decline(source, reason, nowNs);
            return;
        }
        opening = false;
        fail(reason);
    }

    /// Receiver: the conductor could not make a session for what this source says of itself. Another, or the
    /// same one later, is listened for.
    void decline(final long source, final String reason, final long nowNs) {
        opening = false;
        shunned.add(source, nowNs);
        if (leaving) {
            closeLanes();
            return;
        }
        if (sources() == 0) {
            subscriber.onAlone(reason);
        }
        if (!declined.equals(reason)) {
            declined = reason;
            context.notices().accept("subscriber of " + channel.name() + ": " + reason);
        }
    }

    // This source is not for us, or does not answer. What its session took is freed.
    private void decline(final ReceiverSession link, final String reason, final long nowNs) {
        link.onOver();
        link.leave();
        free(link);
        decline(link.id(), reason, nowNs);
    }

    private void free(final ReceiverSession link) {
        if (!links.remove(link)) {
            return;
        }
        subscriber.remove(link.queue());
        opener.free(link);
    }

    /// Receiver: the subscription cannot go on. Frames, device and subscriber stay the user's until it closes
    /// them.
    void fail(final String reason) {
        if (!over && !leaving) {
            subscriber.onFailure(reason);
        }
        over = true;
        leave();
    }

    private void report(final ReceiverSession link, final long nowNs) {
        if (link.protocol().isStarted() && !link.isJoined()) {
            onJoined(link);
        }
        if (link.isOver()) {
            return;
        }
        final ReceiverMachine machine = link.machine();
        final long stoodNs = link.protocol().standstillNs();
        if (stoodNs > 0 && nowNs >= standstillNoticeNs) {
            standstillNoticeNs = nowNs + STANDSTILL_NOTICE_NS;
            context.notices()
                    .accept("subscriber of " + channel.name() + ": " + DisconnectReason.standstill(stoodNs / 1_000_000)
                            + "; asking its source");
        }
        switch (machine.state()) {
            case JOINING, PROBING, STARTING -> {
                if (link.isObstacleDue(nowNs)) {
                    link.onObstacle(DisconnectReason.joining(machine));
                    if (sources() == 0) {
                        subscriber.onAlone(link.obstacle());
                    }
                }
            }
            case RECEIVING -> {}
            case ENDED -> {
                if (link.protocol().isEnded()) {
                    onEnded(link);
                }
            }
            case LOST -> {
                // Frames that were whole when it was lost come first.
                if (!link.isJoined()) {
                    decline(link, DisconnectReason.notJoined(machine, link.obstacle()), nowNs);
                } else if (link.protocol().isEnded()) {
                    onLost(link, DisconnectReason.lost(machine, nowNs), nowNs);
                }
            }
            case REFUSED -> {
                if (machine.lostReason() == Reason.RING_TOO_SMALL
                        && channel.stream().ringBytes() > 0
                        && options.count() == 1) {
                    over = true;
                    subscriber.onEnd(Subscriber.State.FAILED, DisconnectReason.notJoined(machine, ""));
                } else {
                    decline(link, DisconnectReason.notJoined(machine, link.obstacle()), nowNs);
                }
            }
        }
    }

    private void onJoined(final ReceiverSession link) {
        final boolean again = options.count() == 1 ? returnNs != NEVER : past.contains(link.id());
        link.onJoined();
        rejoins += again ? 1 : 0;
        returnNs = NEVER;
        final SourceEvent.Kind kind = again ? SourceEvent.Kind.REJOINED : SourceEvent.Kind.JOINED;
        final SourceEvent event =
                new SourceEvent(link.id(), kind, link.protocol().firstFrameId(), "");
        subscriber.add(link.queue(), event, link.protocol().firstReportedId(), options.count() == 1);
        publishStats();
    }

    private void onEnded(final ReceiverSession link) {
        link.onOver();
        past.onEnded(link.id());
        publishStats();
        subscriber.end(link.queue(), ended(link, SourceEvent.Kind.ENDED, ""));
        if (options.count() == 1) {
            over = true;
            subscriber.onState(Subscriber.State.END_OF_STREAM);
        }
    }

    private void onLost(final ReceiverSession link, final String reason, final long nowNs) {
        link.onOver();
        publishStats();
        subscriber.end(link.queue(), ended(link, SourceEvent.Kind.LOST, reason));
        if (options.rejoins()) {
            final long deadlineNs = nowNs + TimeUnit.MILLISECONDS.toNanos(options.rejoinMs());
            past.onLost(link.id(), deadlineNs, link.protocol().nextFrameId());
            returnNs = options.count() == 1 ? deadlineNs : NEVER;
        } else {
            past.onEnded(link.id());
        }
        if (options.count() == 1 && !options.rejoins()) {
            over = true;
            subscriber.onEnd(Subscriber.State.SOURCE_LOST, reason);
            return;
        }
        lostReason = reason;
        link.leave();
        if (sources() == 0) {
            subscriber.onAlone(reason);
        }
        if (!subscriber.isListened()) {
            context.notices().accept("subscriber of " + channel.name() + ": " + reason);
        }
    }

    private static SourceEvent ended(final ReceiverSession link, final SourceEvent.Kind kind, final String reason) {
        return new SourceEvent(link.id(), kind, SourceEvent.NO_FRAME, reason);
    }

    private void tellState(final long nowNs) {
        if (options.count() > 1) {
            links.forgetEnded(nowNs);
        } else if (nowNs >= returnNs && !opening && links.joining() == null) {
            // Who answers in time is waited for.
            over = true;
            subscriber.onEnd(
                    Subscriber.State.SOURCE_LOST,
                    lostReason + "; waited " + options.rejoinMs() + " ms (rejoin) in vain");
            return;
        }
        subscriber.onState(sources() > 0 ? Subscriber.State.READY : Subscriber.State.JOINING);
    }

    private void publishStats() {
        final WireTotals totals = links.totals();
        subscriber.onStats(new SubscriberStats(
                0,
                0,
                0,
                totals.mendedBytes(),
                totals.repaired(),
                totals.duplicates(),
                LossCounts.NONE,
                totals.rejected(),
                rejoins));
        // Told again when they have doubled: whoever makes them must not fill the log.
        final long damaged = totals.lost(LossReason.DAMAGED);
        if (damaged > 2 * damagedTold) {
            context.notices()
                    .accept("subscriber of " + channel.name() + ": " + damaged
                            + " small frame(s) dropped, the table of their datagram is damaged; look at the network,"
                            + " or at the source");
            damagedTold = damaged;
        }
    }

    /// Receiver: leaves; lanes are closed, frames in the user's hands stay readable. Idempotent.
    void leave() {
        leaving = true;
        if (!opening) {
            closeLanes();
        }
    }

    private void closeLanes() {
        if (!lanesClosed) {
            lanesClosed = true;
            CloseHelper.quietCloseAll(links::leave, counters::publish, counters, control, transport);
        }
    }

    /// Whether the memory can be freed.
    boolean isReleased() {
        return !opening && links.areDrained() && !isBusy();
    }

    /// Whether something runs on its device, a kernel of the user's perhaps: whoever freed it now would wait
    /// for that.
    boolean isBusy() {
        return subscriber.device().isBusy();
    }

    @Override
    public void close() {
        CloseHelper.closeAll(links::close, subscriber.device());
    }
}
