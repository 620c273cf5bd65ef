package io.framecast.engine.node;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.LaneAddress;
import io.framecast.engine.ready.ReadySet;
import io.framecast.reliability.ReceiverMachine;
import io.framecast.reliability.ReceiverMachine.State;
import io.framecast.reliability.ReceiverOutput;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.LinkOffer;
import io.framecast.reliability.wire.Verdict;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.function.IntConsumer;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// What of a subscription belongs to one source: its session, where to speak to it and to its co-root, and
/// how far that life has come. By the receiver's thread, once the conductor has made it.
final class SourceLink implements ReceiverOutput {
    private static final int NO_PEER = -1;
    // A handshake that hears nothing for so long must not keep others waiting.
    private static final long STALE_NS = 1_000_000_000;
    // One that takes longer is worth a word.
    private static final long SLOW_NS = 1_000_000_000;
    private static final long OBSTACLE_INTERVAL_NS = 200_000_000;

    private final ControlLane control;
    private final SourceFeed feed;
    private @Nullable ReceiverSession session;
    private int sourcePeer = NO_PEER;
    private int coRootPeer = NO_PEER;
    private long heardNs;
    private long startedNs;
    private String obstacle = "";
    private long obstacleNs;
    private boolean joined;
    private boolean over;
    private boolean left;

    SourceLink(final ControlLane control, final SourceFeed feed) {
        this.control = control;
        this.feed = feed;
    }

    /// Conductor: once, before anything else.
    void attach(final ReceiverSession made) {
        session = made;
    }

    ReceiverSession session() {
        return Objects.requireNonNull(session);
    }

    ReceiverMachine machine() {
        return session().machine();
    }

    SourceFeed feed() {
        return feed;
    }

    /// The session's number.
    long id() {
        return feed.session();
    }

    /// Begins the handshake.
    ///
    /// @throws TransportException where the source says an address that is none of this transport
    void start(final long nowNs) {
        heardNs = nowNs;
        startedNs = nowNs;
        sourcePeer = control.lane().connect(new LaneAddress(machine().stream().controlAddress()));
        machine().start(nowNs);
    }

    /// A control datagram that names this session.
    void onControl(final MemorySegment datagram, final long offset, final int bytes, final long nowNs) {
        if (machine().onControl(datagram, offset, bytes, nowNs) == Verdict.GOOD) {
            heardNs = nowNs;
            if (ControlLayout.type(datagram, offset) == ControlLayout.TYPE_HEARTBEAT) {
                feed.clock().onHeartbeat(datagram, offset, nowNs);
            }
        }
    }

    /// One duty cycle; after [#leave], takes back what the subscriber released.
    int doWork(final long nowNs) {
        return left ? session().settle(nowNs) : session().doWork(nowNs);
    }

    /// What ends an agent's sleep when data arrives.
    void tellDescriptors(final IntConsumer told) {
        if (!left) {
            told.accept(session().dataLane().readyDescriptor());
            told.accept(session().repairLane().readyDescriptor());
        }
    }

    /// Whether each of its lanes has a descriptor of its own.
    boolean isShown() {
        return left
                || (session().dataLane().readyDescriptor() != ReadySet.NONE
                        && session().repairLane().readyDescriptor() != ReadySet.NONE);
    }

    /// The agent means to sleep.
    void arm() {
        if (!left) {
            session().dataLane().armReady();
            session().repairLane().armReady();
        }
    }

    long nextDeadlineNs() {
        return left ? Long.MAX_VALUE : session().session().nextDeadlineNs();
    }

    boolean mustLook() {
        return left || session().mustLook();
    }

    /// Whether the subscriber was told of this session.
    boolean isJoined() {
        return joined;
    }

    void onJoined() {
        joined = true;
    }

    /// Whether nothing follows, and all there was lies in the feed.
    boolean isOver() {
        return over;
    }

    void onOver() {
        over = true;
    }

    /// Whether frames come, or are left to come, from here.
    boolean isReceiving() {
        return joined && !over;
    }

    /// Whether the handshake is under way.
    boolean isJoining() {
        return !joined && !over;
    }

    /// Whether it joins, and nothing is heard from there.
    boolean isStale(final long nowNs) {
        return isJoining() && nowNs - heardNs > STALE_NS;
    }

    /// Whether the handshake takes longer than it should, and nobody has looked why for a while.
    boolean isObstacleDue(final long nowNs) {
        final boolean due = isJoining() && nowNs - startedNs > SLOW_NS && nowNs >= obstacleNs;
        if (due) {
            obstacleNs = nowNs + OBSTACLE_INTERVAL_NS;
        }
        return due;
    }

    /// This process stood still in mid-handshake.
    void onStandstill(final long nowNs) {
        heardNs = nowNs;
        startedNs = nowNs;
        machine().onStandstill(nowNs);
    }

    /// What the handshake waits for, in one line; empty where it did not take long.
    String obstacle() {
        return obstacle;
    }

    void onObstacle(final String line) {
        obstacle = line;
    }

    /// Whether the source ended and needs no more answers.
    boolean isForgotten(final long nowNs) {
        return over
                && machine().state() == State.ENDED
                && nowNs - heardNs > machine().silenceNs();
    }

    /// Whether lanes are closed.
    boolean hasLeft() {
        return left;
    }

    /// Says goodbye and closes the lanes; what is in the feed stays readable. Idempotent.
    void leave() {
        if (left) {
            return;
        }
        left = true;
        CloseHelper.quietCloseAll(session()::leave, this::disconnect);
    }

    private void disconnect() {
        connectCoRoot(null);
        if (sourcePeer != NO_PEER) {
            control.lane().disconnect(sourcePeer);
            sourcePeer = NO_PEER;
        }
    }

    /// Whether memory can be freed while the subscriber goes on.
    ///
    /// @param listened whether somebody wants to know of the end
    boolean isReleased(final boolean listened) {
        return left && feed.isQuiet(listened) && !session().session().isHeld();
    }

    /// Whether memory can be freed, for nobody polls any more.
    boolean isDrained() {
        session().drain();
        return !session().session().isHeld();
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
    public boolean openLink(final LinkOffer offer) {
        final SourceReach reach = session().reach();
        return reach != null && reach.connect(offer);
    }

    @Override
    public boolean writeGrant(final long word) {
        final SourceReach reach = session().reach();
        return reach != null && reach.write(word);
    }

    @Override
    public int pull(final long firstSequence, final int count) {
        final SourceReach reach = session().reach();
        return reach == null ? NO_PULL : reach.pull(firstSequence, count);
    }

    @Override
    public boolean makeSetLink() {
        final SetReach reach = session().setReach();
        return reach != null && reach.make();
    }

    @Override
    public byte @Nullable [] setLink() {
        final SetReach reach = session().setReach();
        return reach == null ? null : reach.descriptor();
    }

    @Override
    public boolean openSetLink(final LinkOffer offer) {
        final SetReach reach = session().setReach();
        return reach != null && reach.connect(offer);
    }

    @Override
    public void cutSetLink() {
        final SetReach reach = session().setReach();
        if (reach != null) {
            reach.cut();
        }
    }

    @Override
    public int pullFromCoRoot(final long firstSequence, final int count) {
        final SetReach reach = session().setReach();
        return reach == null ? NO_PULL : reach.pull(firstSequence, count);
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
}
