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
import io.framecast.api.error.TransportException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.engine.ready.Wakeup;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// A subscriber in a host group: at any time it leads or follows. When its leader is gone, it enters the group anew,
/// and
/// follows the next leader or becomes it; frames published meanwhile are reported lost (`not_a_member`).
///
/// Threading: as [Subscriber] says.
public final class GroupSubscriber implements Subscriber {
    private static final SubscriberStats NOTHING = new SubscriberStats(0, 0, 0, 0, 0, 0, LossCounts.NONE, 0, 0);

    private final Channel channel;
    private final DeviceBackend device;
    private final Wakeup receiver;
    private final Consumer<String> notices;
    private final Function<GroupLeader, Subscriber> leading;
    private final Consumer<GroupSubscriber> removal;
    private volatile FollowerSubscriber current;
    private @Nullable GroupLeader leader;
    // The one that the source sees, while this subscriber leads.
    private volatile @Nullable Subscriber membership;
    private LossHandler onLoss = (_, _, _) -> {};
    private @Nullable SourceHandler onSource;
    private long session;
    private long nextId = -1;
    private boolean moved;
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
        try {
            final UnixSocket own = UnixSocket.connect(leads.path());
            if (own == null) {
                throw new TransportException("host group: cannot connect to " + leads.path());
            }
            final FollowerSubscriber follower = new FollowerSubscriber(channel, device, own);
            membership = leading.apply(leads);
            return follower;
        } catch (final RuntimeException | Error e) {
            leads.close();
            throw e;
        }
    }

    // The subscriber's thread: its leader is gone.
    private boolean moves() {
        final FollowerSubscriber follower = current;
        if (closed || !follower.isOrphan()) {
            return false;
        }
        follower.close();
        earlier = withoutMissed(stats());
        stopLeading();
        moved = true;
        final FollowerSubscriber entered = enter();
        entered.onLoss(onLoss);
        if (onSource != null) {
            entered.onSource(onSource);
        }
        current = entered;
        return true;
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

    private void stopLeading() {
        final Subscriber member = membership;
        membership = null;
        if (member != null) {
            member.close();
        }
        if (leader != null) {
            leader.close();
            leader = null;
        }
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
        final State own = current.isOrphan() ? State.JOINING : current.state();
        final Subscriber member = membership;
        // What became of a membership without a session is not in a segment.
        return own == State.JOINING && member != null ? member.state() : own;
    }

    @Override
    public Optional<String> failure() {
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
        moves();
        return current.awaitFrame(longest);
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
        if (closed) {
            return;
        }
        closed = true;
        current.close(device::close);
        stopLeading();
        removal.accept(this);
    }
}
