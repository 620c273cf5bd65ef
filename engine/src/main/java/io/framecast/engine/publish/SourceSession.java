package io.framecast.engine.publish;

import io.framecast.api.Channel;
import io.framecast.api.MemberStats;
import io.framecast.api.SecurityOptions;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.Transport;
import io.framecast.engine.memory.RollbackOnFailure;
import io.framecast.engine.port.ControlLane;
import io.framecast.engine.ready.ReadySet;
import io.framecast.engine.ready.Wakeup;
import io.framecast.engine.session.CounterBoard;
import io.framecast.engine.session.Failures;
import io.framecast.engine.session.Policies;
import io.framecast.engine.session.SendMemory;
import io.framecast.engine.session.SessionAgent;
import io.framecast.engine.session.SessionContext;
import io.framecast.engine.session.SessionHost;
import io.framecast.engine.session.Waiter;
import io.framecast.reliability.send.CoRootConfig;
import io.framecast.reliability.send.SenderMachine;
import io.framecast.reliability.session.SendSession;
import io.framecast.reliability.window.FrameWriter;
import io.framecast.reliability.window.SendWindow;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import java.util.function.IntSupplier;
import java.util.function.LongToIntFunction;
import java.util.random.RandomGenerator;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// One source: the protocol's [SendSession], its lanes and memory, and the volatile state that the publisher's
/// thread reads. The sender's thread runs the duty cycle in [#doWork].
public final class SourceSession implements SessionAgent.Member, AutoCloseable {
    private static final long LOOK_NS = 100_000_000;

    // In the order in which they open.
    private final SourceLanes lanes;
    private final SendSession session;
    private final StreamSecurity security;
    private final CounterBoard counters;
    private final WindowReaders readers;
    private final SourceNotices notices;
    private final MemberCounters members;

    private final SendWindow window;
    private final FrameWriter writer;
    private final SenderMachine machine;
    private final boolean isFeeding;
    private final ControlLane.Handler onControl = this::onControl;
    private final LongToIntFunction cycle = this::runCycle;
    private final IntSupplier networkMembers = this::networkMembers;

    private final Waiter publisher = new Waiter();
    private volatile int wantedSlots;
    private volatile int readyMembers;
    private volatile int readySubscribers;
    private volatile boolean ending;
    private volatile boolean drained;
    private volatile boolean settled;
    private long lookNs;
    private boolean closed;
    // Publisher's and conductor's threads, one after the other.
    private boolean lanesClosed;
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
        final CoRootConfig coRoots = Policies.onWire(channel.stream().coRoots());
        isFeeding = coRoots.feed() == CoRootConfig.Feed.UNICAST;
        try (RollbackOnFailure opened = new RollbackOnFailure()) {
            lanes = new SourceLanes(transport, channel, context, sender != null);
            opened.add(lanes);
            opened.add(lanes::closeLanes);
            session = lanes.session(channel, coRoots, context, secrets);
            window = session.window();
            machine = session.machine();
            security = opened.add(security(channel.link().security(), context));
            counters = opened.add(
                    SourceCounters.of(channel, lanes, session, security, context.counters(), this::readyMembers));
            // Before the first heartbeat: who hears a source knows whether it can read the window instead.
            readers = opened.add(
                    sender == null
                            ? new NoReaders()
                            : HostReaders.share(
                                    channel,
                                    security,
                                    lanes.memory().shared(),
                                    session,
                                    sender,
                                    this::freeReleased,
                                    context));
            writer = new FrameWriter(window, readers);
            notices = new SourceNotices(channel, session.stream(), machine, lanes, context.notices());
            members = new MemberCounters(
                    machine, context.counters(), lanes::describe, context.notices(), security::onEvicted);
            opened.keep();
        }
    }

    private StreamSecurity security(final SecurityOptions options, final SessionContext context) {
        return options.isAuthenticated()
                ? new KeyedStream(
                        options, lanes.control(), session, lanes.memory().ring().payload(), context.notices())
                : new OpenStream();
    }

    /// Counters of the publisher's thread.
    CounterBoard counters() {
        return counters;
    }

    public SendWindow window() {
        return window;
    }

    /// The publisher's.
    FrameWriter writer() {
        return writer;
    }

    public SendMemory memory() {
        return lanes.memory();
    }

    /// Why no frame is sent from device memory; empty where the transport may do so.
    String gatherRefusal() {
        if (memory().ring().places() == null) {
            return "transport " + transport().capabilities().name() + " sends from host memory only";
        }
        if (stream().seal().isEncrypting()) {
            return "cipher= encrypts payloads in the window";
        }
        final String refusal = readers.gatherRefusal();
        return refusal.isEmpty() && isFeeding ? "feed=unicast writes the window to co-roots" : refusal;
    }

    /// The transport; it may register memory from any thread.
    Transport transport() {
        return lanes.transport();
    }

    public StreamInfo stream() {
        return session.stream();
    }

    public SenderMachine machine() {
        return machine;
    }

    Lane dataLane() {
        return lanes.data();
    }

    /// Any thread: members, and subscribers on this host that read the window.
    int readyMembers() {
        return readyMembers + readers.count();
    }

    private int networkMembers() {
        return readyMembers;
    }

    /// Subscribers that are ready: those on this host, and those for whom members stand.
    int readySubscribers() {
        return readySubscribers + readers.count();
    }

    /// Subscribers that asked to join and are not ready.
    UnreadyLines unready() {
        return notices.unready();
    }

    /// The members as their operator sees them.
    MemberCounters members() {
        return members;
    }

    /// Any thread: members, and subscribers on this host that read the window.
    List<MemberStats> memberStats() {
        final List<MemberStats> all = new ArrayList<>(readers.stats());
        all.addAll(members.members());
        return all;
    }

    /// Any thread: whether some member would accept that many datagrams, and the window has room for them.
    boolean hasRoom(final int slots) {
        return readyMembers() > 0
                && window.slots() - 1 - (window.committed() - window.freed()) >= slots
                && readers.hasRoom();
    }

    /// Publisher: sleeps until the window has room, the other condition holds, or the time is over.
    void awaitRoom(final SessionHost host, final int slots, final BooleanSupplier over, final Duration longest) {
        wantedSlots = slots;
        readers.await(() -> hasRoom(slots) || over.getAsBoolean(), longest, host, publisher);
    }

    // Publisher, never within the sender's cycle.
    private void freeReleased() {
        if (!broken && !closed) {
            session.reclaim();
        }
    }

    /// Publisher: whether the sender's thread has to do with what was committed.
    boolean isHeard() {
        return readers.isHeard(networkMembers);
    }

    /// Any thread: ends the publisher's wait for room, if it is over.
    void wakePublisher() {
        publisher.wake();
        readers.wake();
    }

    /// Publisher: no frame follows.
    void end() {
        ending = true;
        readers.end();
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
        return transport().readyDescriptor();
    }

    @Override
    public boolean mustPoll() {
        return !broken && (!isPollable() || session.isHeldBack());
    }

    // Whether a descriptor becomes ready when datagrams of peers arrive.
    private boolean isPollable() {
        return transport().readyDescriptor() != ReadySet.NONE
                || lanes.control().lane().readyDescriptor() != ReadySet.NONE;
    }

    @Override
    public void arm() {
        if (!broken) {
            lanes.control().lane().armReady();
        }
    }

    @Override
    public void collectDescriptors(final IntConsumer descriptors) {
        if (!broken) {
            descriptors.accept(lanes.control().lane().readyDescriptor());
        }
    }

    @Override
    public long nextDeadlineNs() {
        return broken ? Long.MAX_VALUE : Math.min(security.nextDeadlineNs(), session.nextDeadlineNs());
    }

    @Override
    public int doWork(final long nowNs) {
        return readers.exclusively(cycle, nowNs);
    }

    private int runCycle(final long nowNs) {
        if (broken) {
            return 0;
        }
        int work = lanes.control().poll(onControl, nowNs);
        work += security.doWork(nowNs);
        if (ending) {
            session.end();
        }
        final int refusedSlots = writer.refusedSlots();
        session.onClaimBlocked(refusedSlots > 0 && !hasRoom(refusedSlots));
        work += session.doWork(nowNs);
        notices.onStandstill(session.standstillNs(), nowNs);
        if (readyMembers != machine.readyMembers()) {
            members.look();
        }
        readyMembers = machine.readyMembers();
        readySubscribers = machine.readySubscribers();
        if (hasRoom(wantedSlots)) {
            wakePublisher();
        }
        counters.tick(work, nowNs);
        if (nowNs >= lookNs) {
            lookNs = nowNs + LOOK_NS;
            lookAround(nowNs);
        }
        drained = session.isDrained();
        settled = session.isSettled();
        return work;
    }

    private void lookAround(final long nowNs) {
        notices.look(nowNs);
        members.look();
        security.look(nowNs);
        readers.look(!hasRoom(Math.max(1, Math.max(writer.refusedSlots(), wantedSlots))), nowNs);
    }

    private void onControl(final MemorySegment datagram, final long offset, final int bytes, final long nowNs) {
        machine.onControl(datagram, offset, bytes, nowNs);
    }

    /// Frees everything, whatever state the lanes are in.
    @Override
    public void close() {
        CloseHelper.closeAll(this::closeLanes, lanes);
    }

    // Notifies members when the session ends early. From then on nothing reads the window, nor what is sent from
    // elsewhere.
    private void closeLanes() {
        if (lanesClosed) {
            return;
        }
        lanesClosed = true;
        readers.exclusively(_ -> markClosed(), 0);
        CloseHelper.closeAll(this::sayGoodbye, readers, members, counters, lanes::closeLanes, transport(), security);
    }

    private int markClosed() {
        closed = true;
        return 0;
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
