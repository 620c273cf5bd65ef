package io.framecast.engine.hostgroup;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameHandler;
import io.framecast.api.LossHandler;
import io.framecast.api.LossReason;
import io.framecast.api.SourceEvent;
import io.framecast.api.SourceHandler;
import io.framecast.api.Subscriber;
import io.framecast.api.SubscriberStats;
import io.framecast.api.error.FramecastException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.engine.ready.Wakeup;
import io.framecast.engine.session.LossTally;
import io.framecast.engine.session.UseGuard;
import io.framecast.engine.session.Waiter;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// A subscriber in a host group: it follows a leader, and may be that leader as well. When its leader is gone it enters
/// the group anew, and follows the next leader or becomes it. Frames published meanwhile are lost (`not_a_member`).
///
/// Threading: as [Subscriber] says.
public final class GroupSubscriber implements Subscriber {
    private static final Duration LONGEST = Duration.ofDays(365);
    // An interrupt, and the end of a membership that has no session, end a wait within this.
    private static final long SLICE_NS = 50_000_000;
    // Between two attempts to enter a group.
    private static final long MOVE_NS = 100_000_000;

    private final Channel channel;
    private final DeviceBackend device;
    private final Wakeup receiver;
    private final Consumer<String> notices;
    private final Function<GroupLeader, Subscriber> leading;
    private final Consumer<GroupSubscriber> removal;
    private final UseGuard guard;
    // By followers, the present one and earlier ones whose frames the user holds.
    private final Holds deviceUses = new Holds();
    private volatile Follower follower;
    // While this subscriber leads; the membership is what the source sees of it.
    private volatile @Nullable GroupLeader leader;
    private volatile @Nullable Subscriber membership;
    private volatile @Nullable String failure;
    private volatile boolean closed;

    // The user's thread.
    private LossHandler onLoss = (_, _, _) -> {};
    private @Nullable SourceHandler onSource;
    private final LossTally lost = new LossTally();
    private long frames;
    private long bytes;
    private long inPlaceFrames;
    private long sessions;
    private long session;
    private long nextId;
    // It entered the group anew, and no frame has come since.
    private boolean moved;
    private long movedNs = System.nanoTime() - MOVE_NS;
    // A handler threw on the frames missed in front of it: the next poll returns it.
    private volatile @Nullable FollowerFrame detained;

    /// @param device this subscriber's from now on, unless this throws
    /// @param leading makes the member that a leader is to the source
    /// @param removal takes this subscriber out of its node
    public GroupSubscriber(
            final Channel channel,
            final DeviceBackend device,
            final Wakeup receiver,
            final Consumer<String> notices,
            final Function<GroupLeader, Subscriber> leading,
            final Consumer<GroupSubscriber> removal) {
        this.channel = channel;
        this.device = device;
        this.receiver = receiver;
        this.notices = notices;
        this.leading = leading;
        this.removal = removal;
        guard = new UseGuard("subscriber of " + channel.name());
        follower = enter();
    }

    private Follower enter() {
        final HostGroups.Role role = HostGroups.enter(channel, receiver, notices);
        final GroupLeader leads = role.leader();
        if (leads == null) {
            notices.accept(
                    role.local()
                            ? "host group: reads the window of the publisher of " + channel.name() + " on this host"
                            : "host group: follows a subscriber of " + channel.name() + " on this host");
            return follow(role.connection());
        }
        notices.accept("host group: leads the subscribers of " + channel.name() + " on this host");
        Follower own = null;
        try {
            own = follow(role.connection());
            membership = leading.apply(leads);
            leader = leads;
            return own;
        } catch (final RuntimeException | Error e) {
            if (own != null) {
                end(own);
            }
            leads.close();
            throw e;
        }
    }

    private Follower follow(final UnixSocket connection) {
        final Follower made = new Follower(channel.stream(), device, connection, new Events());
        deviceUses.take();
        return made;
    }

    private void end(final Follower ended) {
        ended.close(deviceUses::give);
    }

    // The user's thread: whether its leader was gone and it has another now.
    private boolean moves() {
        stopSharing();
        if (closed || failure != null || !follower.isOrphan() || System.nanoTime() - movedNs < MOVE_NS) {
            return false;
        }
        synchronized (this) {
            if (closed) {
                return false;
            }
            movedNs = System.nanoTime();
            moved = true;
            end(follower);
            stopLeading();
            try {
                follower = enter();
                return true;
            } catch (final FramecastException e) {
                failure = e.getMessage();
                return false;
            }
        }
    }

    // A membership that is over has nothing for those who come later: they lead anew. Those who follow read on.
    private void stopSharing() {
        final Subscriber member = membership;
        final GroupLeader sharing = leader;
        if (member != null && sharing != null && isFinal(member.state())) {
            sharing.close();
        }
    }

    private void stopLeading() {
        final Subscriber member = membership;
        final GroupLeader sharing = leader;
        membership = null;
        leader = null;
        if (member != null) {
            member.close();
        }
        if (sharing != null) {
            sharing.close();
        }
    }

    private static boolean isFinal(final State state) {
        return state != State.JOINING && state != State.READY;
    }

    @Override
    public Channel channel() {
        return channel;
    }

    @Override
    public DeviceBackend device() {
        return device;
    }

    @Override
    public State state() {
        if (closed) {
            return State.CLOSED;
        }
        if (failure != null) {
            return State.FAILED;
        }
        final Follower own = follower;
        final State followed = own.isOrphan() ? State.JOINING : own.state();
        final Subscriber member = membership;
        if (member == null || isFinal(followed)) {
            return followed;
        }
        // What became of a membership without a session, or that failed, is not in a segment.
        final State received = member.state();
        final boolean tells = followed == State.JOINING ? !own.isInvited() : received == State.FAILED && !own.hasNews();
        return tells ? received : followed;
    }

    @Override
    public Optional<String> failure() {
        if (failure != null) {
            return Optional.of(failure);
        }
        final String followed = follower.failure();
        final Subscriber member = membership;
        return followed == null && member != null ? member.failure() : Optional.ofNullable(followed);
    }

    @Override
    public int poll(final FrameHandler handler, final int limit) {
        int count = 0;
        for (DeviceFrame frame = limit > 0 ? poll() : null; frame != null; frame = count < limit ? poll() : null) {
            count++;
            handler.onFrame(frame);
        }
        return count;
    }

    @Override
    public @Nullable DeviceFrame poll() {
        try (UseGuard _ = guard.enter()) {
            FollowerFrame frame = detained;
            if (frame == null) {
                frame = follower.poll();
                if (frame == null && moves()) {
                    frame = follower.poll();
                }
            }
            if (frame == null) {
                return null;
            }
            detained = frame;
            reportMissed(frame);
            detained = null;
            session = frame.session();
            nextId = frame.frameId() + 1;
            frames++;
            bytes += frame.length();
            inPlaceFrames += frame.inPlace() ? 1 : 0;
            return frame;
        }
    }

    // Published in the same session while this subscriber had no leader.
    private void reportMissed(final FollowerFrame frame) {
        final long first = nextId;
        final boolean missed = moved && frame.session() == session && frame.frameId() > first;
        moved = false;
        if (missed) {
            tell(session, first, frame.frameId() - first, LossReason.NOT_A_MEMBER);
        }
    }

    private void tell(final long lostSession, final long first, final long count, final LossReason reason) {
        lost.add(reason, count);
        onLoss.onLoss(lostSession, first, count, reason);
    }

    private final class Events implements FollowerEvents {
        @Override
        public void onLoss(final long lostSession, final long firstFrameId, final long count, final LossReason reason) {
            session = lostSession;
            nextId = firstFrameId + count;
            tell(lostSession, firstFrameId, count, reason);
        }

        @Override
        public void onSource(final long newSession, final SourceEvent.Kind kind) {
            final boolean again = kind == SourceEvent.Kind.JOINED && sessions++ > 0;
            final SourceHandler handler = onSource;
            if (handler != null) {
                handler.onSource(new SourceEvent(
                        newSession, again ? SourceEvent.Kind.REJOINED : kind, SourceEvent.NO_FRAME, ""));
            }
        }
    }

    @Override
    public boolean awaitFrame(final Duration longest) {
        try (UseGuard _ = guard.enter()) {
            final long longestNs = (longest.compareTo(LONGEST) < 0 ? longest : LONGEST).toNanos();
            Waiter.repeat(() -> hasNews() || isFinal(state()), longestNs, leftNs -> {
                if (!moves()) {
                    follower.rest(Math.min(leftNs, SLICE_NS));
                }
            });
            return hasNews();
        }
    }

    private boolean hasNews() {
        return !closed && (detained != null || follower.hasNews());
    }

    @Override
    public void onLoss(final LossHandler handler) {
        onLoss = handler;
    }

    @Override
    public void onSource(final SourceHandler handler) {
        onSource = handler;
    }

    /// Frames lie in the leader's ring, or are copied out of it: none goes into a posted buffer.
    @Override
    public boolean post(final DeviceRegion region) {
        return false;
    }

    @Override
    public SubscriberStats stats() {
        final Subscriber member = membership;
        final SubscriberStats received = member == null ? SubscriberStats.NONE : member.stats();
        return new SubscriberStats(
                frames,
                bytes,
                inPlaceFrames,
                received.reassembledBytes(),
                received.repairedDatagrams(),
                received.duplicateDatagrams(),
                lost.counts(),
                received.rejectedDatagrams(),
                Math.max(0, sessions - 1));
    }

    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            CloseHelper.close(detained);
            end(follower);
            deviceUses.close(device::close);
            stopLeading();
        }
        removal.accept(this);
    }
}
