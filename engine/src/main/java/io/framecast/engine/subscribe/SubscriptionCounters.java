package io.framecast.engine.subscribe;

import io.framecast.api.LossReason;
import io.framecast.engine.metrics.CounterTable;
import io.framecast.engine.metrics.EngineCounter;
import io.framecast.engine.metrics.Labels;
import io.framecast.engine.port.ControlLane;
import io.framecast.engine.session.CounterBoard;
import io.framecast.engine.subscribe.lanes.SubscriptionLanes;
import io.framecast.engine.subscribe.protect.StreamProtection;
import io.framecast.reliability.flow.Interval;
import io.framecast.reliability.membership.MembershipMachine;
import org.agrona.CloseHelper;

/// The counters of a subscription, and the statistics of its subscriber.
///
/// The receiver's thread.
final class SubscriptionCounters implements AutoCloseable {
    private static final long STATS_INTERVAL_NS = 20_000_000;

    private final EngineSubscriber subscriber;
    private final JoinedSessions sessions;
    private final MembershipMachine membership;
    private final SourceNotices notices;
    private final CounterBoard board;
    private final Interval stats = new Interval(STATS_INTERVAL_NS);
    private boolean areStatsOld;

    SubscriptionCounters(
            final CounterTable table,
            final EngineSubscriber subscriber,
            final SubscriptionLanes lanes,
            final StreamProtection protection,
            final JoinedSessions sessions,
            final MembershipMachine membership,
            final SourceNotices notices) {
        this.subscriber = subscriber;
        this.sessions = sessions;
        this.membership = membership;
        this.notices = notices;
        final ControlLane control = lanes.control();
        final String name = subscriber.channel().name();
        board = new CounterBoard(table, Labels.of("channel", name))
                .stream("subscriber", subscriber.channel().transport())
                        .sends(control.lane(), "control")
                        .receives(control.lane(), "control")
                        .losses(sessions::lost);
        protection.count(board);
        board.add(EngineCounter.FRAMES_DELIVERED, subscriber::frames)
                .add(EngineCounter.BYTES_DELIVERED, subscriber::bytes)
                .add(EngineCounter.FRAMES_IN_PLACE, subscriber::inPlaceFrames)
                .add(EngineCounter.SOURCES_JOINED, membership::receiving)
                .add(EngineCounter.REJOINS, membership::rejoins)
                .device(subscriber.device())
                .registrations(lanes.transport());
    }

    /// At the end of a cycle.
    ///
    /// @param work done in it
    void tick(final int work, final long nowNs) {
        areStatsOld |= work > 0;
        if (areStatsOld && stats.isDue(nowNs)) {
            areStatsOld = false;
            stats.begin(nowNs);
            publishStats();
        }
        board.tick(work, nowNs);
    }

    /// Publishes the statistics that the subscriber's thread does not count.
    void publishStats() {
        subscriber.onStats(sessions.stats(membership.rejoins()));
        notices.onDamaged(sessions.lost(LossReason.DAMAGED));
    }

    @Override
    public void close() {
        CloseHelper.quietCloseAll(board::publish, board);
    }
}
