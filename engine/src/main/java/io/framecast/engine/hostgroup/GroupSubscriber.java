package io.framecast.engine.hostgroup;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameHandler;
import io.framecast.api.LossHandler;
import io.framecast.api.LossReason;
import io.framecast.api.PlacementReport;
import io.framecast.api.SourceHandler;
import io.framecast.api.Subscriber;
import io.framecast.api.SubscriberStats;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.engine.ready.Wakeup;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// A subscriber in a host group: at any time it leads or follows. When its leader is gone, it enters the group anew, and
/// follows the next leader or becomes it; frames published meanwhile are reported lost (`not_a_member`).
///
/// Threading: as [Subscriber] says.
public final class GroupSubscriber implements Subscriber {
    private final Channel channel;
    private final DeviceBackend device;
    private final Wakeup receiver;
    private final Consumer<String> notices;
    private final Function<GroupLeader, Subscriber> leading;
    private final Consumer<GroupSubscriber> removal;
    private volatile Subscriber current;
    private @Nullable GroupLeader leader;
    private LossHandler onLoss = (_, _, _) -> {};
    private @Nullable SourceHandler onSource;
    private long session;
    private long nextId = -1;
    private boolean moved;
    private long missed;
    private volatile boolean closed;

    /// @param device this subscriber's from now on
    /// @param leading makes the subscriber of one that leads, which closes the device
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

    private Subscriber enter() {
        final HostGroups.Role role = HostGroups.enter(channel, receiver, notices);
        leader = role.leader();
        if (role.follower() != null) {
            notices.accept("host group: follows a subscriber of " + channel.name() + " on this host");
            return new FollowerSubscriber(channel, device, role.follower());
        }
        if (role.leader() == null) {
            throw new IllegalStateException("neither leader nor follower");
        }
        notices.accept("host group: leads the subscribers of " + channel.name() + " on this host");
        try {
            return leading.apply(role.leader());
        } catch (final RuntimeException | Error e) {
            role.leader().close();
            throw e;
        }
    }

    // The subscriber's thread: its leader is gone.
    private boolean moves() {
        if (closed || !(current instanceof FollowerSubscriber follower) || !follower.isOrphan()) {
            return false;
        }
        follower.close();
        moved = true;
        final Subscriber entered = enter();
        entered.onLoss(onLoss);
        if (onSource != null) {
            entered.onSource(onSource);
        }
        current = entered;
        return true;
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
        return current instanceof FollowerSubscriber follower && follower.isOrphan() ? State.JOINING : current.state();
    }

    @Override
    public Optional<String> failure() {
        return current.failure();
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
            missed += count;
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
        return current.stats();
    }

    /// Frames that nobody on this host received while the group had no leader.
    long missed() {
        return missed;
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        current.close();
        if (leader != null) {
            leader.close();
        } else {
            // One that leads closes it with its session's memory.
            device.close();
        }
        removal.accept(this);
    }
}
