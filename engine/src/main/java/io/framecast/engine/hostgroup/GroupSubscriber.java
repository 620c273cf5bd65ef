package io.framecast.engine.hostgroup;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameHandler;
import io.framecast.api.LossHandler;
import io.framecast.api.LossReason;
import io.framecast.api.PlacementReport;
import io.framecast.api.SourceEvent;
import io.framecast.api.SourceHandler;
import io.framecast.api.Subscriber;
import io.framecast.api.SubscriberStats;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.engine.ready.Wakeup;
import io.framecast.engine.session.LossTally;
import io.framecast.engine.session.UseGuard;
import io.framecast.engine.session.Waiter;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// A subscriber in a host group: it follows a leader, and may be that leader as well ([GroupMembership]). When its
/// leader is gone it follows the next one or becomes it; no frame is lost by that.
///
/// Threading: as [Subscriber] says.
public final class GroupSubscriber implements Subscriber {
    private static final String PUBLISHER_GONE = "its publisher on this host is gone without an end of stream";
    private static final String SOURCE_GONE = "the leader of its host group lost it, and reports why";
    private static final Duration LONGEST = Duration.ofDays(365);
    // An interrupt, and the end of a membership that has no session, end a wait within this.
    private static final long SLICE_NS = 50_000_000;

    private final Channel channel;
    private final DeviceBackend device;
    private final Consumer<GroupSubscriber> removal;
    private final UseGuard guard;
    private final PlacementCounts placements;
    private final Follower follower;
    private final GroupMembership group;
    private final AtomicBoolean closing = new AtomicBoolean();
    private volatile boolean closed;

    // The user's thread.
    private LossHandler onLoss = (_, _, _) -> {};
    private @Nullable SourceHandler onSource;
    private final LossTally lost = new LossTally();
    private long frames;
    private long bytes;
    private long inPlaceFrames;
    private long sessions;
    // A handler threw on the frames missed in front of it: the next poll returns it.
    private volatile @Nullable FollowerFrame detained;

    /// @param part of the host that its group is for; empty for all of it
    /// @param device this subscriber's from now on, unless this throws
    /// @param members makes the member that a leader is to the source
    /// @param removal takes this subscriber out of its node
    public GroupSubscriber(
            final Channel channel,
            final String part,
            final DeviceBackend device,
            final Wakeup receiver,
            final Consumer<String> notices,
            final MemberFactory members,
            final Consumer<GroupSubscriber> removal) {
        this.channel = channel;
        this.device = device;
        this.removal = removal;
        placements = new PlacementCounts(channel.stream().placement().kind());
        guard = new UseGuard("subscriber of " + channel.name());
        follower = new Follower(channel.stream(), device, new Events(), placements, notices);
        try {
            group = new GroupMembership(channel, part, follower, receiver, notices, members);
        } catch (final RuntimeException | Error e) {
            follower.close(() -> {});
            throw e;
        }
    }

    static boolean isFinal(final State state) {
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
        final State followed = follower.state();
        final Subscriber member = group.member();
        if (member == null || isFinal(followed)) {
            return followed;
        }
        // No segment has the state of a membership without a session, or of a membership that failed.
        final State received = member.state();
        final boolean isNewer =
                followed == State.JOINING ? !follower.isInvited() : received == State.FAILED && !follower.hasNews();
        return isNewer ? received : followed;
    }

    @Override
    public Optional<String> failure() {
        final String followed = follower.failure();
        if (followed == null && follower.hasLostPublisher()) {
            return Optional.of(PUBLISHER_GONE);
        }
        final Subscriber member = group.member();
        if (followed != null) {
            return Optional.of(followed);
        }
        if (member != null) {
            return member.failure();
        }
        return follower.state() == State.SOURCE_LOST ? Optional.of(SOURCE_GONE) : Optional.empty();
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
            final FollowerFrame frame = detained == null ? follower.poll() : detained;
            if (frame == null) {
                return null;
            }
            detained = frame;
            follower.onGiven(frame);
            detained = null;
            frames++;
            bytes += frame.length();
            inPlaceFrames += frame.inPlace() ? 1 : 0;
            return frame;
        }
    }

    // A leader knows the reason by its own membership. A follower knows that its leader reports it.
    private String lostReason() {
        if (follower.hasLostPublisher()) {
            return PUBLISHER_GONE;
        }
        final Subscriber member = group.member();
        return member == null ? SOURCE_GONE : member.failure().orElse(SOURCE_GONE);
    }

    private final class Events implements Follower.Events {
        @Override
        public void onLoss(final long session, final long firstFrameId, final long count, final LossReason reason) {
            lost.add(reason, count);
            onLoss.onLoss(session, firstFrameId, count, reason);
        }

        @Override
        public void onSource(final long newSession, final SourceEvent.Kind kind) {
            final boolean again = kind == SourceEvent.Kind.JOINED && sessions++ > 0;
            group.wake();
            final SourceHandler handler = onSource;
            if (handler != null) {
                handler.onSource(new SourceEvent(
                        newSession,
                        again ? SourceEvent.Kind.REJOINED : kind,
                        SourceEvent.NO_FRAME,
                        kind == SourceEvent.Kind.LOST ? lostReason() : ""));
            }
        }
    }

    @Override
    public boolean awaitFrame(final Duration longest) {
        try (UseGuard _ = guard.enter()) {
            final long longestNs = (longest.compareTo(LONGEST) < 0 ? longest : LONGEST).toNanos();
            Waiter.repeat(
                    () -> hasNews() || isFinal(state()),
                    longestNs,
                    leftNs -> follower.rest(Math.min(leftNs, SLICE_NS)));
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
    public Optional<PlacementReport> placement() {
        return device.hostAddressable() ? Optional.empty() : Optional.of(placements.report());
    }

    @Override
    public SubscriberStats stats() {
        final Subscriber member = group.member();
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
        if (!closing.compareAndSet(false, true)) {
            return;
        }
        closed = true;
        CloseHelper.close(detained);
        follower.close(device::close);
        group.close();
        removal.accept(this);
    }
}
