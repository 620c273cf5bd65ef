package io.framecast.engine.hostgroup;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameHandler;
import io.framecast.api.LossCounts;
import io.framecast.api.LossHandler;
import io.framecast.api.LossReason;
import io.framecast.api.PlacementReport;
import io.framecast.api.SourceHandler;
import io.framecast.api.Subscriber;
import io.framecast.api.SubscriberStats;
import io.framecast.api.error.FramecastException;
import io.framecast.api.error.TransportException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.engine.ready.Wakeup;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// A subscriber in a host group: at any time it leads or follows. When its leader is gone, it enters the group anew,
/// and
/// follows the next leader or becomes it; frames published meanwhile are reported lost (`not_a_member`).
///
/// Threading: as [Subscriber] says.
public final class GroupSubscriber implements Subscriber {
    // Between two attempts to enter a group.
    private static final long MOVE_NS = 100_000_000;
    private static final Duration LONGEST = Duration.ofDays(365);
    private static final long LOOK_NS = 100_000_000;
    private static final long ORPHAN_NS = 5_000_000;
    private static final SubscriberStats NOTHING = new SubscriberStats(0, 0, 0, 0, 0, 0, LossCounts.NONE, 0, 0);

    private final Channel channel;
    private final DeviceBackend device;
    private final Wakeup receiver;
    private final Consumer<String> notices;
    private final Function<GroupLeader, Subscriber> leading;
    private final Consumer<GroupSubscriber> removal;
    private volatile FollowerSubscriber current;
    private volatile @Nullable GroupLeader leader;
    // The one that the source sees, while this subscriber leads.
    private volatile @Nullable Subscriber membership;
    private LossHandler onLoss = (_, _, _) -> {};
    private @Nullable SourceHandler onSource;
    private long session;
    private long nextId = -1;
    private boolean moved;
    private long movedNs = System.nanoTime() - MOVE_NS;
    private volatile @Nullable String failure;
    // By followers, the present one and earlier ones whose frames the user holds.
    private final Holds deviceUses = new Holds();
    private final AtomicLong missed = new AtomicLong();
    // Of the leaders that were followed before.
    private volatile SubscriberStats earlier = NOTHING;
    private volatile boolean closed;

    /// @param device this subscriber's from now on
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
        current = enter();
        deviceUses.take();
    }

    private FollowerSubscriber enter() {
        final HostGroups.Role role = HostGroups.enter(channel, receiver, notices);
        leader = role.leader();
        if (role.follower() != null) {
            notices.accept("host group: follows a subscriber of " + channel.name() + " on this host");
            return new FollowerSubscriber(channel, device, role.follower());
        }
        final GroupLeader leads = role.leader();
        if (leads == null) {
            throw new IllegalStateException("neither leader nor follower");
        }
        notices.accept("host group: leads the subscribers of " + channel.name() + " on this host");
        FollowerSubscriber follower = null;
        try {
            final UnixSocket own = UnixSocket.connect(leads.path());
            if (own == null) {
                throw new TransportException("host group: cannot connect to " + leads.path());
            }
            follower = new FollowerSubscriber(channel, device, own);
            membership = leading.apply(leads);
            return follower;
        } catch (final RuntimeException | Error e) {
            if (follower != null) {
                follower.close();
            }
            leads.close();
            throw e;
        }
    }

    // The subscriber's thread: its leader is gone.
    private boolean moves() {
        stopSharing();
        if (closed || !current.isOrphan() || System.nanoTime() - movedNs < MOVE_NS) {
            return false;
        }
        synchronized (this) {
            if (closed) {
                return false;
            }
            movedNs = System.nanoTime();
            earlier = withoutMissed(stats());
            endFollower(current);
            stopLeading();
            moved = true;
            try {
                final FollowerSubscriber entered = enter();
                deviceUses.take();
                entered.onLoss(onLoss);
                if (onSource != null) {
                    entered.onSource(onSource);
                }
                current = entered;
                return true;
            } catch (final FramecastException e) {
                failure = e.getMessage();
                return false;
            }
        }
    }

    // What the follower's frames lie in needs the device until the user has released them.
    private void endFollower(final FollowerSubscriber follower) {
        follower.close(deviceUses::give);
    }

    // A membership that is over has nothing for those who come later: they lead anew. Those who follow read on.
    private void stopSharing() {
        final Subscriber member = membership;
        final GroupLeader sharing = leader;
        if (member != null && sharing != null && isOver(member.state())) {
            sharing.close();
        }
    }

    private static boolean isOver(final State state) {
        return state == State.FAILED || state == State.SOURCE_LOST || state == State.END_OF_STREAM;
    }

    private void stopLeading() {
        final Subscriber member = membership;
        membership = null;
        if (member != null) {
            member.close();
        }
        final GroupLeader sharing = leader;
        leader = null;
        if (sharing != null) {
            sharing.close();
        }
    }

    private SubscriberStats withoutMissed(final SubscriberStats total) {
        final LossCounts lost = total.lost();
        return new SubscriberStats(
                total.frames(),
                total.bytes(),
                total.inPlaceFrames(),
                0,
                0,
                0,
                new LossCounts(
                        lost.unrepairable(),
                        lost.expired(),
                        lost.superseded(),
                        lost.awaitsKeyframe(),
                        lost.damaged(),
                        lost.notAMember() - missed.get()),
                0,
                total.rejoins());
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
        final State own = current.isOrphan() ? State.JOINING : current.state();
        final Subscriber member = membership;
        if (member == null || (own != State.JOINING && own != State.READY)) {
            return own;
        }
        // What became of a membership without a session, or that failed, is not in a segment.
        final State received = member.state();
        if (received == State.FAILED) {
            return own == State.READY && current.hasNews() ? own : received;
        }
        return own == State.JOINING && !current.isInvited() ? received : own;
    }

    @Override
    public Optional<String> failure() {
        if (failure != null) {
            return Optional.of(failure);
        }
        final Subscriber member = membership;
        return member == null || current.failure().isPresent() ? current.failure() : member.failure();
    }

    @Override
    public int poll(final FrameHandler handler, final int limit) {
        int count = 0;
        while (count < limit) {
            final DeviceFrame frame = poll();
            if (frame == null) {
                break;
            }
            count++;
            handler.onFrame(frame);
        }
        return count;
    }

    @Override
    public @Nullable DeviceFrame poll() {
        DeviceFrame frame = current.poll();
        if (frame == null && moves()) {
            frame = current.poll();
        }
        if (frame != null) {
            follow(frame);
        }
        return frame;
    }

    // Frames between two memberships in one session.
    private void follow(final DeviceFrame frame) {
        if (moved && frame.session() == session && frame.frameId() > nextId) {
            final long count = frame.frameId() - nextId;
            missed.addAndGet(count);
            onLoss.onLoss(session, nextId, count, LossReason.NOT_A_MEMBER);
        }
        moved = false;
        session = frame.session();
        nextId = frame.frameId() + 1;
    }

    @Override
    public boolean awaitFrame(final Duration longest) {
        final long startNs = System.nanoTime();
        final long longestNs = longest.compareTo(LONGEST) < 0 ? longest.toNanos() : LONGEST.toNanos();
        while (true) {
            moves();
            final long leftNs = longestNs - (System.nanoTime() - startNs);
            final State state = state();
            if (leftNs <= 0 || (state != State.JOINING && state != State.READY)) {
                return current.hasNews();
            }
            // An orphan, and a leader whose membership ends without a session, look again soon.
            if (current.awaitFrame(Duration.ofNanos(Math.min(leftNs, LOOK_NS)))) {
                return true;
            }
            if (Thread.currentThread().isInterrupted()) {
                return false;
            }
            if (current.isOrphan()) {
                LockSupport.parkNanos(Math.min(leftNs, ORPHAN_NS));
            }
        }
    }

    @Override
    public void onLoss(final LossHandler handler) {
        onLoss = handler;
        current.onLoss(handler);
    }

    @Override
    public void onSource(final SourceHandler handler) {
        onSource = handler;
        current.onSource(handler);
    }

    @Override
    public boolean post(final DeviceRegion region) {
        return false;
    }

    @Override
    public Optional<PlacementReport> placement() {
        return current.placement();
    }

    @Override
    public SubscriberStats stats() {
        final SubscriberStats own = current.stats();
        final Subscriber member = membership;
        final SubscriberStats received = member == null ? NOTHING : member.stats();
        final LossCounts before = earlier.lost();
        final LossCounts now = own.lost();
        return new SubscriberStats(
                earlier.frames() + own.frames(),
                earlier.bytes() + own.bytes(),
                earlier.inPlaceFrames() + own.inPlaceFrames(),
                received.reassembledBytes(),
                received.repairedDatagrams(),
                received.duplicateDatagrams(),
                new LossCounts(
                        before.unrepairable() + now.unrepairable(),
                        before.expired() + now.expired(),
                        before.superseded() + now.superseded(),
                        before.awaitsKeyframe() + now.awaitsKeyframe(),
                        before.damaged() + now.damaged(),
                        before.notAMember() + now.notAMember() + missed.get()),
                received.rejectedDatagrams(),
                earlier.rejoins() + own.rejoins());
    }

    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            endFollower(current);
            deviceUses.close(device::close);
            stopLeading();
        }
        removal.accept(this);
    }
}
