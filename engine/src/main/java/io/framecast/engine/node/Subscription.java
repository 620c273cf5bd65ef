package io.framecast.engine.node;

import io.framecast.api.Channel;
import io.framecast.api.LossCounts;
import io.framecast.api.LossReason;
import io.framecast.api.Subscriber;
import io.framecast.api.SubscriberStats;
import io.framecast.api.error.ConfigException;
import io.framecast.api.error.TransportException;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.ReceiveRing;
import io.framecast.api.spi.Transport;
import io.framecast.api.spi.TransportCapabilities.Placement;
import io.framecast.engine.memory.SystemMemory;
import io.framecast.engine.metrics.EngineCounter;
import io.framecast.engine.ready.ReadySet;
import io.framecast.engine.sink.HostSink;
import io.framecast.engine.sink.LossInjector;
import io.framecast.engine.sink.Opened;
import io.framecast.engine.sink.PayloadSink;
import io.framecast.engine.sink.SinkConfig;
import io.framecast.engine.sink.StagedSink;
import io.framecast.reliability.GivenUp;
import io.framecast.reliability.ReceiverConfig;
import io.framecast.reliability.ReceiverMachine;
import io.framecast.reliability.ReceiverOutput;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.HeartbeatLayout;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.LeaveLayout.Reason;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Verdict;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.util.Objects;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// A subscriber's life on its channel: listens on the control lane until a source of the channel's name is
/// heard, has the conductor open a session for it, runs that session to its end.
///
/// Threading: [#doWork] by the receiver's thread; [#open] and [#close] by the conductor's, handed over
/// through queues.
final class Subscription implements ReceiverOutput, AutoCloseable {
    private static final int NO_PEER = -1;
    private static final int SLOTS_MAX = 1 << 24;
    private static final long STATS_INTERVAL_NS = 20_000_000;
    private static final long CONTROL_INTERVAL_NS = 100_000;

    /// Asks the conductor to make and free sessions.
    interface Opener {
        void open(Subscription subscription, StreamInfo stream);

        /// Frees the memory of a session whose lanes are closed.
        void free(ReceiverSession session);
    }

    private final EngineSubscriber subscriber;
    private final Channel channel;
    private final Transport transport;
    private final SessionContext context;
    private final Opener opener;
    private final ControlLane control;
    private final LossInjector loss;
    private final HeaderChecksum checksum = new HeaderChecksum();
    private final SecureRandom secrets = new SecureRandom();
    private final ControlLane.Handler onControl = this::onControl;
    private @Nullable ReceiverSession session;
    private int sourcePeer = NO_PEER;
    private int coRootPeer = NO_PEER;
    private final ShunnedSources shunned = new ShunnedSources();
    private String declined = "";
    private long droppedTold;
    // A source was chosen: no other is listened for.
    private boolean found;
    // The conductor opens lanes on the transport: nobody else may touch it.
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
        this.transport = transport;
        this.context = context;
        this.opener = opener;
        channel = subscriber.channel();
        loss = new LossInjector(context.lossProbability(), context.seed());
        control = new ControlLane(transport, LaneConfig.Role.RECEIVER, loss);
    }

    String channelName() {
        return channel.name();
    }

    EngineSubscriber subscriber() {
        return subscriber;
    }

    @Nullable
    ReceiverSession session() {
        return session;
    }

    /// What ends an agent's sleep when peers speak.
    int readyDescriptor() {
        return transport.readyDescriptor();
    }

    /// What ends an agent's sleep when data arrives.
    int dataDescriptor() {
        final ReceiverSession current = session;
        return current == null || leaving ? ReadySet.NONE : current.dataLane().readyDescriptor();
    }

    /// When a timer is due.
    long nextDeadlineNs() {
        final ReceiverSession current = session;
        return current == null || leaving ? Long.MAX_VALUE : current.nextDeadlineNs();
    }

    /// Whether something is awaited that does not show.
    boolean mustLook() {
        final ReceiverSession current = session;
        return transport.readyDescriptor() == ReadySet.NONE || (current != null && !leaving && current.mustLook());
    }

    /// One duty cycle.
    int doWork(final long nowNs) {
        if (leaving) {
            return 0;
        }
        int work = pollControl(nowNs);
        final ReceiverSession current = session;
        if (current == null) {
            return work;
        }
        final int done = current.doWork(nowNs);
        busy = done > 0;
        work += done;
        if (!over) {
            report(current, nowNs);
            if (session != current) {
                return work;
            }
        }
        statsDue |= work > 0;
        if (statsDue && nowNs >= statsNs) {
            statsDue = false;
            statsNs = nowNs + STATS_INTERVAL_NS;
            publishStats(current);
        }
        return work;
    }

    // While data comes, the source has little to say.
    private int pollControl(final long nowNs) {
        if (busy && nowNs < controlDueNs) {
            return 0;
        }
        controlDueNs = nowNs + CONTROL_INTERVAL_NS;
        return control.poll(onControl, nowNs);
    }

    private void onControl(final MemorySegment datagram, final long offset, final int bytes, final long nowNs) {
        final ReceiverSession current = session;
        if (current != null) {
            if (current.machine().onControl(datagram, offset, bytes, nowNs) == Verdict.GOOD
                    && ControlLayout.type(datagram, offset) == ControlLayout.TYPE_HEARTBEAT) {
                subscriber.clock().onHeartbeat(datagram, offset, nowNs);
            }
        } else if (!found) {
            listen(datagram, offset, bytes, nowNs);
        }
    }

    private void listen(final MemorySegment datagram, final long offset, final int bytes, final long nowNs) {
        if (ControlLayout.check(datagram, offset, bytes, checksum) != Verdict.GOOD
                || ControlLayout.type(datagram, offset) != ControlLayout.TYPE_HEARTBEAT
                || !HeartbeatLayout.isValid(datagram, offset)
                || (ControlLayout.flags(datagram, offset) & HeartbeatLayout.FLAG_END_OF_STREAM) != 0
                || shunned.contains(ControlLayout.session(datagram, offset), nowNs)) {
            return;
        }
        final StreamInfo stream = HeartbeatLayout.info(datagram, offset);
        if (stream.channel().equals(channel.name())) {
            found = true;
            opening = true;
            subscriber.clock().onHeartbeat(datagram, offset, nowNs);
            opener.open(this, stream);
        }
    }

    /// Conductor: makes the session's memory, lanes and machine.
    ///
    /// @return what [#attach] takes
    /// @throws UnfitSourceException where what the source says of itself is to blame: listen to another
    /// @throws io.framecast.api.error.FramecastException with one line that names the mend
    ReceiverSession open(final StreamInfo stream) {
        final Placement placement = transport.capabilities().placement();
        final boolean inPlace = subscriber.device().hostAddressable() && placement == Placement.AIMED;
        final int spareSlots = inPlace ? spareSlots(stream) : 0;
        final SinkConfig config = new SinkConfig(
                stream,
                ringSlots(stream, spareSlots),
                spareSlots,
                transport.capabilities().headerReserveBytes(),
                subscriber.device(),
                loss);
        final MemoryNeeds needs = inPlace ? MemoryNeeds.inPlace(config) : MemoryNeeds.staged(config);
        requireWithinBounds(stream, needs);
        try (Opened opened = new Opened()) {
            requireRoom(needs);
            final PayloadSink sink = opened.add(inPlace ? new HostSink(config) : new StagedSink(config));
            final Lane data = opened.add(
                    transport.open(lane(LaneKind.DATA, sink.dataRing(), new LaneAddress(stream.dataAddress()))));
            final Lane repair = opened.add(transport.open(lane(LaneKind.REPAIR, sink.repairRing(), null)));
            sink.attach(data, repair, placement);
            final CoRootService serving = channel.stream().coRoots().serves()
                    ? opened.add(new CoRootService(transport, control, stream, context.notices()))
                    : null;
            final ReceiverMachine machine =
                    new ReceiverMachine(machineConfig(config, sink, data, repair), context.random(), this, serving);
            final CounterBoard counters = opened.add(new CounterBoard(context.counters(), channel.name()));
            counters.sends(control.lane(), "control")
                    .receives(control.lane(), "control")
                    .add(EngineCounter.DEVICE_ALLOCATED, subscriber.device()::allocatedBytes);
            final ReceiverSession made = new ReceiverSession(
                    new SessionParts(machine, sink, data, repair, serving, config.ringSlots(), spareSlots),
                    subscriber,
                    counters);
            opened.keep();
            return made;
        } catch (final OutOfMemoryError e) {
            final String line =
                    "ring: no room for " + needs.hostBytes() + " bytes in the host and " + needs.deviceBytes()
                            + " on the device; lower ring= or frames-held=, or frame-max= and window= at the source";
            throw channel.stream().ringBytes() > 0 ? new ConfigException(line, e) : new UnfitSourceException(line, e);
        } catch (final TransportException e) {
            throw new UnfitSourceException(Failures.line("join of " + channel.name(), e), e);
        }
    }

    // Whoever speaks on the group must not decide how much memory this subscriber takes.
    private void requireWithinBounds(final StreamInfo stream, final MemoryNeeds needs) {
        final long given = channel.stream().ringMaxBytes();
        final long most = given > 0 ? given : ringMaxDefault();
        if (needs.totalBytes() > most && channel.stream().ringBytes() == 0) {
            throw new UnfitSourceException(
                    "ring-max: a source of frame-max=" + stream.frameMaxBytes() + " wants " + needs.totalBytes()
                            + " bytes here, ring-max is " + most
                            + "; enlarge ring-max=, or lower frame-max= or window= at the source",
                    null);
        }
    }

    // Before anything is taken: pinned and landing memory as well, whoever allocates it.
    private void requireRoom(final MemoryNeeds needs) {
        SystemMemory.require(needs.hostBytes());
        if (needs.deviceBytes() > subscriber.device().availableBytes()) {
            throw new OutOfMemoryError(needs.deviceBytes() + " bytes wanted on the device");
        }
    }

    private long ringMaxDefault() {
        final long device = subscriber.device().availableBytes();
        return (device == Long.MAX_VALUE ? SystemMemory.availableBytes() : device) / 4;
    }

    private static LaneConfig lane(final LaneKind kind, final ReceiveRing ring, final @Nullable LaneAddress peer) {
        return new LaneConfig(kind, LaneConfig.Role.RECEIVER, null, ring, peer);
    }

    private ReceiverConfig machineConfig(
            final SinkConfig memory, final PayloadSink sink, final Lane data, final Lane repair) {
        return new ReceiverConfig(
                memory.stream(),
                secrets.nextLong() | 1,
                memory.ringSlots() - memory.spareSlots(),
                Math.min(data.receiveCapacity(), sink.receiveSlots()),
                channel.stream().reorderDatagrams(),
                Policies.onWire(channel.stream().delivery()),
                new LaneAddresses(control.address().toBytes(), repair.address().toBytes()),
                Sites.number(channel.stream().coRoots().site()));
    }

    // A source that does not wait sends without credit too: what comes then must land somewhere, or the transport
    // fills up with what is old.
    private int spareSlots(final StreamInfo stream) {
        return Policies.onWire(channel.stream().delivery()).isWaitedFor() ? 0 : SinkConfig.batchMax(stream.slotBytes());
    }

    private int ringSlots(final StreamInfo stream, final int spareSlots) {
        final long needed = spareSlots
                + ReceiverConfig.ringSlotsMin(stream, channel.stream().framesHeld());
        final long asked = channel.stream().ringBytes() / stream.slotBytes();
        if (channel.stream().ringBytes() > 0 && asked < needed) {
            throw new ConfigException("ring: expected at least " + needed * stream.slotBytes() + " bytes for frame-max "
                    + stream.frameMaxBytes() + ", got " + channel.stream().ringBytes()
                    + "; enlarge ring= or leave it out");
        }
        // Multiples of 64 slots of multiples of 64 bytes are whole pages.
        final long slots = (Math.max(asked, needed) + 63) / 64 * 64;
        if (slots > SLOTS_MAX) {
            final String line = "ring: expected at most " + SLOTS_MAX + " slots of " + stream.slotBytes()
                    + " bytes, got " + slots + "; lower ring= or frames-held=, or frame-max= at the source";
            throw asked > SLOTS_MAX ? new ConfigException(line) : new UnfitSourceException(line, null);
        }
        return (int) slots;
    }

    /// Receiver: takes the session the conductor made.
    void attach(final ReceiverSession made, final long nowNs) {
        opening = false;
        session = made;
        if (leaving) {
            closeLanes();
            return;
        }
        try {
            sourcePeer = control.lane()
                    .connect(new LaneAddress(made.machine().stream().controlAddress()));
            made.machine().start(nowNs);
        } catch (final TransportException e) {
            // No address of this transport.
            decline(made.machine().stream().session(), Failures.line("join of " + channel.name(), e), nowNs);
        } catch (final RuntimeException e) {
            fail(Failures.line("join of " + channel.name(), e));
        }
    }

    /// Receiver: the conductor could not make a session.
    void refuse(final String reason) {
        opening = false;
        fail(reason);
    }

    /// Receiver: this source is not for us, or does not answer. What its session took is freed, and another,
    /// or the same one later, is listened for.
    void decline(final long source, final String reason, final long nowNs) {
        opening = false;
        final ReceiverSession current = session;
        session = null;
        found = false;
        shunned.add(source, nowNs);
        if (sourcePeer != NO_PEER && !lanesClosed) {
            control.lane().disconnect(sourcePeer);
        }
        sourcePeer = NO_PEER;
        if (!lanesClosed) {
            connectCoRoot(null);
        }
        if (current != null) {
            CloseHelper.quietCloseAll(current::leave);
            opener.free(current);
        }
        if (leaving) {
            closeLanes();
            return;
        }
        subscriber.onDeclined(reason);
        if (!declined.equals(reason)) {
            declined = reason;
            context.notices().accept("subscriber of " + channel.name() + ": " + reason);
        }
    }

    /// Receiver: the session cannot go on. Frames, device and subscriber stay the user's until it closes
    /// them.
    void fail(final String reason) {
        if (!over && !leaving) {
            subscriber.onFailure(reason);
        }
        over = true;
        leave();
    }

    private void report(final ReceiverSession current, final long nowNs) {
        final ReceiverMachine machine = current.machine();
        switch (machine.state()) {
            case JOINING, PROBING, STARTING -> subscriber.onState(Subscriber.State.JOINING);
            case RECEIVING -> subscriber.onState(Subscriber.State.READY);
            case ENDED -> {
                if (current.isEnded()) {
                    over = true;
                    publishStats(current);
                    subscriber.onState(Subscriber.State.END_OF_STREAM);
                }
            }
            case LOST -> {
                // Frames that were whole when it was lost come first.
                if (!current.isStarted()) {
                    decline(machine.stream().session(), Partings.notJoined(machine), nowNs);
                } else if (current.isEnded()) {
                    over = true;
                    publishStats(current);
                    subscriber.onEnd(Subscriber.State.SOURCE_LOST, Partings.lost(machine));
                }
            }
            case REFUSED -> {
                if (machine.lostReason() == Reason.RING_TOO_SMALL
                        && channel.stream().ringBytes() > 0) {
                    over = true;
                    subscriber.onEnd(Subscriber.State.FAILED, Partings.notJoined(machine));
                } else {
                    decline(machine.stream().session(), Partings.notJoined(machine), nowNs);
                }
            }
        }
    }

    private void publishStats(final ReceiverSession current) {
        final ReceiverMachine machine = current.machine();
        subscriber.onStats(new SubscriberStats(
                0,
                0,
                0,
                current.sink().mendedBytes(),
                machine.counts().repairedDatagrams(),
                machine.verdicts().get(Verdict.DUPLICATE),
                LossCounts.NONE,
                machine.verdicts().rejected()));
        // Told again when they have doubled: whoever makes them must not fill the log.
        final long damaged = subscriber.losses().total(LossReason.DAMAGED);
        if (damaged > 2 * droppedTold) {
            context.notices()
                    .accept("subscriber of " + channel.name() + ": " + damaged
                            + " small frame(s) dropped, the table of their datagram is damaged; look at the network,"
                            + " or at the source");
            droppedTold = damaged;
        }
    }

    @Override
    public long onGivenUp(final GivenUp givenUp) {
        return Objects.requireNonNull(session).onGivenUp(givenUp);
    }

    @Override
    public MemorySegment control() {
        return control.slot();
    }

    @Override
    public void sendControl(final int bytes) {
        if (sourcePeer != NO_PEER) {
            control.unicast(sourcePeer, bytes);
        }
    }

    @Override
    public boolean connectCoRoot(final byte @Nullable [] controlAddress) {
        if (coRootPeer != NO_PEER) {
            control.lane().disconnect(coRootPeer);
            coRootPeer = NO_PEER;
        }
        if (controlAddress == null) {
            return true;
        }
        try {
            coRootPeer = control.lane().connect(new LaneAddress(controlAddress));
            return true;
        } catch (final TransportException e) {
            // No address of this transport: the source is reported to.
            return false;
        }
    }

    @Override
    public void sendToCoRoot(final int bytes) {
        if (coRootPeer != NO_PEER) {
            control.unicast(coRootPeer, bytes);
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
            final ReceiverSession current = session;
            CloseHelper.quietCloseAll(current == null ? null : (AutoCloseable) current::leave, control, transport);
        }
    }

    /// Whether the memory can be freed.
    boolean isReleased() {
        if (opening) {
            return false;
        }
        if (session == null) {
            return true;
        }
        session.drain();
        return !session.isHeld();
    }

    @Override
    public void close() {
        CloseHelper.closeAll(session, subscriber.device());
    }
}
