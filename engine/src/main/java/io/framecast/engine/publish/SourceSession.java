package io.framecast.engine.publish;

import io.framecast.api.Channel;
import io.framecast.api.MemberStats;
import io.framecast.api.SecurityOptions;
import io.framecast.api.error.ConfigException;
import io.framecast.api.error.FramecastException;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.PayloadPlaces;
import io.framecast.api.spi.Transport;
import io.framecast.engine.auth.AuthKeys;
import io.framecast.engine.auth.DatagramSeals;
import io.framecast.engine.auth.ProtectionEvent;
import io.framecast.engine.auth.SourceProtection;
import io.framecast.engine.crypto.Cipher;
import io.framecast.engine.crypto.CipherSpeed;
import io.framecast.engine.hostgroup.HostGroups;
import io.framecast.engine.hostgroup.LocalReaders;
import io.framecast.engine.memory.NumaPolicy;
import io.framecast.engine.memory.RollbackOnFailure;
import io.framecast.engine.metrics.CounterTable;
import io.framecast.engine.metrics.EngineCounter;
import io.framecast.engine.metrics.Labels;
import io.framecast.engine.port.ControlLane;
import io.framecast.engine.port.LossInjector;
import io.framecast.engine.port.SendLane;
import io.framecast.engine.port.TransportOneSided;
import io.framecast.engine.ready.ReadySet;
import io.framecast.engine.ready.Wakeup;
import io.framecast.engine.session.CounterBoard;
import io.framecast.engine.session.DisconnectReason;
import io.framecast.engine.session.Failures;
import io.framecast.engine.session.ForeignTraffic;
import io.framecast.engine.session.Policies;
import io.framecast.engine.session.SendMemory;
import io.framecast.engine.session.SessionAgent;
import io.framecast.engine.session.SessionContext;
import io.framecast.engine.session.SessionHost;
import io.framecast.engine.session.Waiter;
import io.framecast.reliability.onesided.MemberEndpoints;
import io.framecast.reliability.onesided.OneSidedPort;
import io.framecast.reliability.send.CoRootConfig;
import io.framecast.reliability.send.SenderConfig;
import io.framecast.reliability.send.SenderCount;
import io.framecast.reliability.send.SenderMachine;
import io.framecast.reliability.session.SendPacer;
import io.framecast.reliability.session.SendSession;
import io.framecast.reliability.window.SendWindow;
import io.framecast.reliability.window.SmallFrames;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.random.RandomGenerator;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// One source: the protocol's [SendSession], its lanes and memory, and the volatile state that the publisher's
/// thread reads. The sender's thread runs the duty cycle in [#doWork].
public final class SourceSession implements SessionAgent.Member, AutoCloseable {
    private static final long STALL_LOOK_NS = 100_000_000;
    private static final long STRANGER_NOTICE_NS = 60_000_000_000L;
    private static final Duration LONGEST = Duration.ofDays(365);

    private final Transport transport;
    private final ControlLane control;
    // Null where everybody may take part.
    private final @Nullable AuthKeys keys;
    private final @Nullable SourceProtection protection;
    private final @Nullable DatagramSeals seals;
    private final @Nullable KeyRotation rotation;
    private long strangers;
    private long strangerNoticeNs;
    private final Lane data;
    private final Lane repair;
    private final StallWatch stalls;
    private final SendMemory memory;
    private final @Nullable MemberEndpoints endpoints;
    // Subscribers on this host that read the window; null where it is not shared.
    private final @Nullable LocalReaders local;
    // Where there are some, the publisher's thread frees what they released, beside the sender's.
    private final ReentrantLock cycle = new ReentrantLock();
    private boolean closed;
    // Publisher's and conductor's threads, one after the other.
    private boolean lanesClosed;
    private final boolean isFeeding;
    private final SendWindow window;
    private final SmallFrames smallFrames;
    private final SendSession session;
    private final SenderMachine machine;
    private final ControlLane.Handler onControl = this::onControl;

    private final UnreadyLines unready;
    private final MemberCounters members;
    // Null where the window is not shared.
    private final @Nullable ReaderCounters readers;
    private final ForeignTraffic foreign;
    private long standstillNoticeNs;
    private final CounterBoard counters;
    private final Consumer<String> notices;

    private final Waiter publisher = new Waiter();
    private volatile int wantedSlots;
    private volatile int refusedSlots;
    private volatile boolean formatBlocked;
    private volatile int readyMembers;
    private volatile int readySubscribers;
    private volatile boolean ending;
    private volatile boolean drained;
    private volatile boolean settled;
    private long stallLookNs;
    // An exception ended the duty cycle.
    private boolean broken;
    private volatile @Nullable String failure;

    /// Opens lanes and memory, and owns the transport from then on. When the constructor throws, it closes
    /// everything it opened, and the transport is still the caller's.
    ///
    /// @param sender wakes the sender's thread, where subscribers on this host may read the window; else null
    /// @param secrets gives the session's nonce, and what proves its members' addresses
    public SourceSession(
            final Transport transport,
            final Channel channel,
            final SessionContext context,
            final @Nullable Wakeup sender,
            final RandomGenerator secrets) {
        this.transport = transport;
        notices = context.notices();
        final int slotBytes = slotBytes(transport, headerBytes(channel));
        final int windowSlots = WindowSize.slots(channel, slotBytes, sender != null);
        stalls = new StallWatch(
                channel.name(), TimeUnit.MILLISECONDS.toNanos(channel.stream().aliveTimeoutMs()));
        try (RollbackOnFailure opened = new RollbackOnFailure()) {
            try (NumaPolicy _ = context.memoryPolicy()) {
                memory = opened.add(new SendMemory(
                        windowSlots,
                        slotBytes,
                        headerBytes(channel),
                        sender != null,
                        sender != null && channel.link().security().isEncrypted(),
                        transport.capabilities().deviceMemory()));
            }
            // Before the lanes: their registrations of the window then lie within the memory that peers may read.
            final CoRootConfig coRoots = Policies.onWire(channel.stream().coRoots());
            isFeeding = coRoots.feed() == CoRootConfig.Feed.UNICAST;
            endpoints = endpoints(transport, channel.name());
            if (endpoints != null) {
                opened.add(endpoints);
            }
            final long nonce = secrets.nextLong();
            final SecurityOptions security = channel.link().security();
            keys = security.isAuthenticated() ? opened.add(AuthKeys.ofSource(security.auth())) : null;
            control = opened.add(control(transport, context));
            data = opened.add(transport.open(lane(LaneKind.DATA)));
            repair = opened.add(transport.open(lane(LaneKind.REPAIR)));
            final StreamInfo stream = stream(nonce, channel, windowSlots);
            window = new SendWindow(memory.window(), stream.session());
            protection = keys == null ? null : opened.add(protect(keys, nonce));
            seals = protection == null ? null : opened.add(seal(protection, channel, stream.seal()));
            final PayloadPlaces places = memory.ring().places();
            if (places != null) {
                window.onPayload(places::clear);
            }
            smallFrames = window.bundle();
            session = new SendSession(
                    new SenderConfig(stream, SenderConfig.MEMBERS_MAX_DEFAULT, context.epochOffsetNs(), coRoots),
                    window,
                    new SendPacer(channel.link().rateBytes()),
                    control,
                    new SendLane(data),
                    new SendLane(repair),
                    endpoints,
                    secrets);
            machine = session.machine();
            counters = counters(context.counters(), channel.transport());
            foreign = ForeignTraffic.ofPublisher(channel, this::foreignDatagrams, notices);
            // Before the first heartbeat: who hears a source knows whether it can read the window instead.
            local = sender == null ? null : share(channel, stream, sender);
            if (local != null) {
                opened.add(local);
                session.readBy(local::freeable);
            }
            readers = local == null ? null : new ReaderCounters(channel.name(), local, context.counters(), notices);
            unready = new UnreadyLines(this::describe, stream, machine.joinAttempts(), notices);
            rotation = protection == null ? null : rotation(protection, channel);
            members = new MemberCounters(machine, context.counters(), this::describe, notices, this::onEvicted);
            opened.keep();
        }
    }

    private static ControlLane control(final Transport transport, final SessionContext context) {
        final LossInjector loss = new LossInjector(context.lossProbability(), context.seed());
        return new ControlLane(transport, LaneConfig.Role.SOURCE, loss, context.clock());
    }

    private SourceProtection protect(final AuthKeys with, final long nonce) {
        final SourceProtection made = new SourceProtection(
                nonce,
                with,
                Cipher.AES_GCM,
                2 * SenderConfig.MEMBERS_MAX_DEFAULT,
                new SecureRandom(),
                control::sendPlain);
        control.protect(made);
        return made;
    }

    private DatagramSeals seal(final SourceProtection by, final Channel channel, final StreamInfo.Seal kind) {
        final DatagramSeals made = DatagramSeals.of(kind, by.dataKeys());
        window.sealedBy(made, memory.ring().payload());
        if (!kind.isEncrypting()) {
            notices.accept("publisher of " + channel.name()
                    + ": for those who have a key alone; payloads=unprotected: payloads are neither encrypted nor"
                    + " authenticated");
        }
        return made;
    }

    private long foreignDatagrams() {
        return ForeignTraffic.datagrams(control.lane()) + ForeignTraffic.datagrams(machine.verdicts());
    }

    private KeyRotation rotation(final SourceProtection of, final Channel channel) {
        final long everyNs =
                TimeUnit.MILLISECONDS.toNanos(channel.link().security().rekeyMs());
        return new KeyRotation(of, window, session, everyNs, stream().aliveTimeoutNs());
    }

    private void onEvicted(final long receiverId) {
        if (rotation != null) {
            rotation.onEvicted(receiverId);
        }
    }

    private StreamInfo.Seal sealOf(final Channel channel) {
        final SecurityOptions security = channel.link().security();
        return switch (security.payloadCipher()) {
            case NONE -> security.isAuthenticated() ? StreamInfo.Seal.HEADER : StreamInfo.Seal.NONE;
            case AES_GCM -> StreamInfo.Seal.AES_GCM;
            case CHACHA20_POLY1305 -> StreamInfo.Seal.CHACHA20_POLY1305;
            case AUTO -> fastest(channel.name());
        };
    }

    private StreamInfo.Seal fastest(final String name) {
        final int bytes = memory.ring().payloadBytes();
        final CipherSpeed speed = CipherSpeed.measure(bytes);
        notices.accept("publisher of " + name + ": cipher=" + speed.cipher().word() + ", by " + speed.name() + ": "
                + speed.sealNs() + " ns for " + bytes + " bytes, the other " + speed.otherNs());
        return switch (speed.cipher()) {
            case AES_GCM -> StreamInfo.Seal.AES_GCM;
            case CHACHA20_POLY1305 -> StreamInfo.Seal.CHACHA20_POLY1305;
        };
    }

    // A frame must lie in the window as a whole, and contiguous.
    private @Nullable LocalReaders share(final Channel channel, final StreamInfo stream, final Wakeup sender) {
        final SecurityOptions security = channel.link().security();
        final String keyTag = keys == null ? "" : keys.hostTag();
        final String obstacle = keyTag.isEmpty() && security.isAuthenticated()
                ? "auth=keys: has no key that is theirs too"
                : obstacle(stream);
        if (!obstacle.isEmpty()) {
            notices.accept("host group: subscribers on this host get datagrams: " + obstacle);
            return null;
        }
        final long windowBytes = (long) window.slots() * stream.slotBytes();
        return HostGroups.share(channel, keyTag, stream, memory.shared(), windowBytes, sender, notices);
    }

    private String obstacle(final StreamInfo stream) {
        return !memory.shared().mirrored()
                ? "this system cannot map the window twice"
                : stream.frameMaxSlots() >= window.slots()
                        ? "a frame of frame-max=" + stream.frameMaxBytes() + " bytes does not fit the window of "
                                + (long) (window.slots() - 1) * stream.slotBytes() + "; enlarge window="
                        : "";
    }

    // Addresses that peers name may be nonsense.
    private String describe(final LaneAddress address) {
        try {
            return transport.describe(address);
        } catch (final FramecastException _) {
            return address.toString();
        }
    }

    private @Nullable MemberEndpoints endpoints(final Transport source, final String channel) {
        final OneSidedPort port = TransportOneSided.of(source.oneSided(), Runnable::run);
        return port == null
                ? null
                : MemberEndpoints.open(port, memory.sent(), SenderConfig.MEMBERS_MAX_DEFAULT, channel, notices);
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
                data.address().toBytes(),
                sealOf(channel));
    }

    private CounterBoard counters(final CounterTable table, final String name) {
        final CounterBoard board = new CounterBoard(
                        table, Labels.of("channel", stream().channel()))
                .stream("publisher", name)
                        .sends(data, "data")
                        .sends(repair, "repair")
                        .sends(control.lane(), "control")
                        .receives(control.lane(), "control")
                        .verdicts(machine.verdicts())
                        .protection(protection == null ? null : protection.counts())
                        .registrations(transport)
                        .add(EngineCounter.REPAIRS_SENT, machine.counts().of(SenderCount.REPAIRED_DATAGRAMS))
                        .add(EngineCounter.REPAIRS_LIMITED, machine.counts().of(SenderCount.LIMITED_REPAIRS))
                        .add(EngineCounter.NACKS_RECEIVED, machine.counts().of(SenderCount.NACKS))
                        .add(EngineCounter.ACKS_RECEIVED, machine.counts().of(SenderCount.ACKS))
                        .add(EngineCounter.HEARTBEATS_SENT, machine.counts().of(SenderCount.HEARTBEATS))
                        .add(EngineCounter.CO_ROOTS, machine.counts().of(SenderCount.CO_ROOTS))
                        .add(EngineCounter.AGGREGATES_RECEIVED, machine.counts().of(SenderCount.AGGREGATES))
                        .add(EngineCounter.FAILOVERS, machine.counts().of(SenderCount.FAILOVERS))
                        .add(EngineCounter.FEED_SENT, machine.counts().of(SenderCount.FED_DATAGRAMS))
                        .add(EngineCounter.INSTRUCTIONS_SENT, machine.counts().of(SenderCount.INSTRUCTIONS))
                        .add(EngineCounter.EVICTIONS, machine.counts().of(SenderCount.EVICTIONS))
                        .add(EngineCounter.JOIN_REFUSALS, machine.counts().of(SenderCount.REFUSALS))
                        .add(EngineCounter.MEMBERS_READY, this::readyMembers)
                        .add(EngineCounter.ROUND_TRIP, machine::rttNs)
                        .add(
                                EngineCounter.CREDIT_REMAINING,
                                () -> machine.readyMembers() == 0
                                        ? 0
                                        : machine.grantedSequence() - machine.nextSequence())
                        .add(
                                EngineCounter.WINDOW_USED,
                                () -> (window.committed() - window.freed())
                                        * stream().slotBytes());
        if (endpoints != null) {
            board.add(EngineCounter.GRANTS_READ, machine.counts().of(SenderCount.CREDIT_WORDS))
                    .add(EngineCounter.CREDIT_DATAGRAMS, machine.counts().of(SenderCount.CREDIT_DATAGRAMS))
                    .add(EngineCounter.LINKED_MEMBERS, machine.counts().of(SenderCount.LINKS))
                    .add(EngineCounter.FEED_WRITTEN, machine.counts().of(SenderCount.WRITTEN_DATAGRAMS))
                    .fallback("feed", machine.counts().of(SenderCount.FEED_FAILURES))
                    .fallback("link", machine.counts().of(SenderCount.LINK_FAILURES))
                    .fallback("impossible_word", machine.counts().of(SenderCount.IMPOSSIBLE_WORDS));
        }
        return board;
    }

    /// Counters of the publisher's thread.
    CounterBoard counters() {
        return counters;
    }

    private static int headerBytes(final Channel channel) {
        return channel.link().security().isAuthenticated() ? DataLayout.SEALED_LENGTH : DataLayout.LENGTH;
    }

    private static int slotBytes(final Transport transport, final int headerBytes) {
        final int room = transport.capabilities().datagramBytesMax() - headerBytes;
        final int slotBytes = Math.min(room, StreamInfo.SLOT_BYTES_MAX) / 64 * 64;
        if (slotBytes <= 0) {
            throw new ConfigException(
                    "mtu: expected room for a " + headerBytes + "-byte header and 64 bytes of payload");
        }
        return slotBytes;
    }

    public SendWindow window() {
        return window;
    }

    SmallFrames smallFrames() {
        return smallFrames;
    }

    public SendMemory memory() {
        return memory;
    }

    /// Why no frame is sent from device memory; empty where the transport may do so.
    String gatherRefusal() {
        if (memory.ring().places() == null) {
            return "transport " + transport.capabilities().name() + " sends from host memory only";
        }
        if (stream().seal().isEncrypting()) {
            return "cipher= encrypts payloads in the window";
        }
        return local != null
                ? "subscribers of this host read the window"
                : isFeeding ? "feed=unicast writes the window to co-roots" : "";
    }

    /// The transport; it may register memory from any thread.
    Transport transport() {
        return transport;
    }

    public StreamInfo stream() {
        return session.stream();
    }

    public SenderMachine machine() {
        return machine;
    }

    Lane dataLane() {
        return data;
    }

    /// Any thread: members, and subscribers on this host that read the window.
    int readyMembers() {
        return readyMembers + (local == null ? 0 : local.count());
    }

    /// Subscribers that are ready: those on this host, and those for whom members stand.
    int readySubscribers() {
        return readySubscribers + (local == null ? 0 : local.count());
    }

    /// Subscribers on this host that read the window; null where it is not shared.
    @Nullable
    LocalReaders local() {
        return local;
    }

    /// Subscribers that asked to join and are not ready.
    UnreadyLines unready() {
        return unready;
    }

    /// The members as their operator sees them.
    MemberCounters members() {
        return members;
    }

    /// Any thread: members, and subscribers on this host that read the window.
    List<MemberStats> memberStats() {
        final List<MemberStats> all =
                new ArrayList<>(local == null ? List.of() : local.stats(window.committed(), window.slots() - 1));
        all.addAll(members.members());
        return all;
    }

    /// Any thread: whether some member would accept that many datagrams, and the window has room for them.
    boolean hasRoom(final int slots) {
        return readyMembers() > 0
                && window.slots() - 1 - (window.committed() - window.freed()) >= slots
                && (local == null || local.hasRoom());
    }

    /// Publisher: the result of a claim. A refused claim passes the number of contiguous slots it needs, a
    /// successful one 0.
    void onClaim(final int slots) {
        refusedSlots = slots;
    }

    /// Publisher: whether the next frame's format has no number, or readers of this host no room for it.
    void onFormatBlocked(final boolean blocked) {
        formatBlocked = blocked;
        if (local != null) {
            local.onFormatBlocked(blocked);
        }
    }

    /// Publisher: sleeps until the window has room, the other condition holds, or the time is over.
    void awaitRoom(final SessionHost host, final int slots, final BooleanSupplier over, final Duration longest) {
        wantedSlots = slots;
        final BooleanSupplier awake = () -> hasRoom(slots) || over.getAsBoolean();
        if (local == null) {
            host.await(publisher, awake, longest);
        } else {
            Waiter.repeat(awake, nanos(longest), leftNs -> {
                reclaim();
                local.rest(awake, leftNs);
            });
        }
    }

    private static long nanos(final Duration duration) {
        return duration.compareTo(LONGEST) < 0 ? duration.toNanos() : LONGEST.toNanos();
    }

    /// Publisher: frees what subscribers on this host released, unless the sender's thread is in its cycle, which does.
    void reclaim() {
        if (local != null && cycle.tryLock()) {
            try {
                if (!broken && !closed) {
                    session.onFormatBlocked(formatBlocked);
                    session.reclaim();
                }
            } finally {
                cycle.unlock();
            }
        }
    }

    /// Publisher: whether the sender's thread has to do with what was committed; else [#reclaim] does.
    boolean isHeard() {
        if (local == null) {
            return true;
        }
        // Behind the commit: a member that is ready from here on finds the frame.
        VarHandle.fullFence();
        return readyMembers > 0;
    }

    /// Any thread: ends the publisher's wait for room, if it is over.
    void wakePublisher() {
        publisher.wake();
        if (local != null) {
            local.wake();
        }
    }

    /// Publisher: no frame follows.
    void end() {
        ending = true;
        if (local != null) {
            local.end(true);
        }
    }

    /// Whether, after [#end], members have acknowledged everything.
    boolean isDrained() {
        return drained;
    }

    /// Whether the wait after [#end] is over: the session drained, or ended within a frame.
    boolean isSettled() {
        return settled;
    }

    @Override
    public String name() {
        return "publisher of " + stream().channel();
    }

    @Override
    public int readyDescriptor() {
        return transport.readyDescriptor();
    }

    @Override
    public boolean mustPoll() {
        return !broken && (!isPollable() || session.isHeldBack());
    }

    // Whether a descriptor becomes ready when datagrams of peers arrive.
    private boolean isPollable() {
        return transport.readyDescriptor() != ReadySet.NONE || control.lane().readyDescriptor() != ReadySet.NONE;
    }

    @Override
    public void arm() {
        if (!broken) {
            control.lane().armReady();
        }
    }

    @Override
    public void collectDescriptors(final IntConsumer descriptors) {
        if (!broken) {
            descriptors.accept(control.lane().readyDescriptor());
        }
    }

    @Override
    public long nextDeadlineNs() {
        if (broken) {
            return Long.MAX_VALUE;
        }
        return protection == null
                ? session.nextDeadlineNs()
                : Math.min(protection.nextDeadlineNs(), session.nextDeadlineNs());
    }

    @Override
    public int doWork(final long nowNs) {
        if (local == null) {
            return broken ? 0 : runCycle(nowNs);
        }
        cycle.lock();
        try {
            return broken ? 0 : runCycle(nowNs);
        } finally {
            cycle.unlock();
        }
    }

    private int runCycle(final long nowNs) {
        int work = control.poll(onControl, nowNs);
        if (protection != null) {
            work += protection.doWork(nowNs);
        }
        if (rotation != null) {
            rotation.tick(nowNs);
        }
        if (ending) {
            session.end();
        }
        session.onClaimBlocked(refusedSlots > 0 && !hasRoom(refusedSlots));
        session.onFormatBlocked(formatBlocked);
        work += session.doWork(nowNs);
        noticeStandstill(session.standstillNs(), nowNs);
        if (readyMembers != machine.readyMembers()) {
            members.look();
        }
        readyMembers = machine.readyMembers();
        readySubscribers = machine.readySubscribers();
        if (hasRoom(wantedSlots)) {
            wakePublisher();
        }
        counters.tick(work, nowNs);
        lookAround(nowNs);
        drained = session.isDrained();
        settled = session.isSettled();
        return work;
    }

    private void noticeStandstill(final long stoodNs, final long nowNs) {
        if (stoodNs > 0 && nowNs >= standstillNoticeNs) {
            standstillNoticeNs = nowNs + SessionContext.STANDSTILL_NOTICE_NS;
            notices.accept(
                    name() + ": " + DisconnectReason.standstill(stoodNs / 1_000_000) + "; asking its subscribers");
        }
    }

    private void lookAround(final long nowNs) {
        if (nowNs < stallLookNs) {
            return;
        }
        stallLookNs = nowNs + STALL_LOOK_NS;
        unready.look(nowNs);
        members.look();
        foreign.tick(nowNs);
        final String stall = stalls.look(
                machine.releasable(),
                machine.nextSequence(),
                machine.counts().get(SenderCount.REPAIRED_DATAGRAMS),
                nowNs);
        if (stall != null) {
            notices.accept(stall);
        }
        if (protection != null) {
            noticeStrangers(protection.counts(), nowNs);
        }
        if (local != null) {
            final boolean blocked = !hasRoom(Math.max(1, Math.max(refusedSlots, wantedSlots)));
            final String held = local.look(blocked, nowNs, stream().aliveTimeoutNs());
            if (held != null) {
                notices.accept(name() + ": " + held);
            }
        }
        if (readers != null) {
            readers.look(window.committed(), window.slots() - 1);
        }
    }

    // Once a minute at most: anybody may try.
    private void noticeStrangers(final Counts<ProtectionEvent> counts, final long nowNs) {
        final long found = counts.get(ProtectionEvent.BAD_PROOF) + counts.get(ProtectionEvent.UNKNOWN_KEY);
        if (found > strangers && nowNs >= strangerNoticeNs) {
            final String problem = keys == null ? null : keys.problem();
            notices.accept(
                    name() + ": one that has no key of auth= was kept out" + (problem == null ? "" : ", " + problem)
                            + "; more of them are counted, and reported once a minute");
            strangerNoticeNs = nowNs + STRANGER_NOTICE_NS;
            strangers = found;
        }
    }

    private void onControl(final MemorySegment datagram, final long offset, final int bytes, final long nowNs) {
        machine.onControl(datagram, offset, bytes, nowNs);
    }

    /// Frees everything, whatever state the lanes are in.
    @Override
    public void close() {
        CloseHelper.closeAll(this::closeLanes, memory);
    }

    // Notifies members when the session ends early. From then on nothing reads the window, nor what is sent from
    // elsewhere.
    private void closeLanes() {
        if (lanesClosed) {
            return;
        }
        lanesClosed = true;
        cycle.lock();
        try {
            closed = true;
        } finally {
            cycle.unlock();
        }
        CloseHelper.closeAll(
                this::sayGoodbye,
                readers,
                local,
                members,
                counters,
                endpoints,
                repair,
                data,
                control,
                transport,
                seals,
                protection,
                keys);
    }

    private void sayGoodbye() {
        counters.publish();
        for (int i = 0; i < SessionContext.GOODBYES && !drained && !broken; i++) {
            session.leave();
        }
    }

    /// A lane failed: the session can send nothing any more.
    @Override
    public void fail(final String reason) {
        broken = true;
        onFailure(reason);
    }

    /// Any thread: the publisher can take no more frames.
    void onFailure(final String reason) {
        failure = reason;
        wakePublisher();
    }

    /// The cause of the session's end, or null.
    @Nullable
    String failure() {
        return failure;
    }

    /// Sender's thread, outside the duty cycle: sends end of stream once more, then closes the lanes.
    /// [#close] follows.
    public void finish(final long nowNs) {
        try {
            if (failure == null) {
                doWork(nowNs);
            }
        } catch (final RuntimeException e) {
            fail(Failures.line(name(), e));
        } finally {
            closeLanes();
        }
    }
}
