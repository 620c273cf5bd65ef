package io.framecast.engine.subscribe;

import io.framecast.api.StreamConfig;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.Transport;
import io.framecast.engine.memory.RollbackOnFailure;
import io.framecast.engine.port.ControlLane;
import io.framecast.engine.port.LossInjector;
import io.framecast.engine.session.SessionContext;
import io.framecast.engine.subscribe.lanes.SubscriptionLanes;
import io.framecast.engine.subscribe.protect.StreamProtection;
import io.framecast.reliability.membership.MembershipMachine;
import java.util.concurrent.Executor;
import java.util.random.RandomGenerator;
import org.agrona.CloseHelper;

/// The parts of a subscription that last for all its sessions, in the order in which they open. They close behind
/// the lanes of the sessions, counters before the lanes that they count, protection last.
///
/// Threading: the thread that makes the subscription opens it; the receiver's thread closes it.
///
/// @param lanes the control lane, and the transport, which it closes
record SubscriptionAssembly(
        GroupRole group,
        MembershipMachine membership,
        JoinedSessions sessions,
        SourceNotices notices,
        SubscriptionLanes lanes,
        StreamProtection protection,
        SubscriptionCounters counters,
        SourceReports reports)
        implements AutoCloseable {
    /// @param group the assembly's once this returns
    /// @param transport the assembly's once this returns
    /// @param onControl takes control datagrams
    /// @param secrets of keys and ids
    static SubscriptionAssembly open(
            final EngineSubscriber subscriber,
            final GroupRole group,
            final Transport transport,
            final SessionContext context,
            final Executor conductor,
            final ControlLane.Handler onControl,
            final RandomGenerator secrets) {
        final StreamConfig stream = subscriber.channel().stream();
        final MembershipMachine membership = new MembershipMachine(
                new MembershipMachine.Terms(stream.sources().count(), stream.rejoinMs(), stream.ringBytes() > 0));
        final JoinedSessions sessions = new JoinedSessions();
        final SourceNotices notices = new SourceNotices(subscriber, context.notices());
        final LossInjector loss = new LossInjector(context.lossProbability(), context.seed());
        try (RollbackOnFailure opened = new RollbackOnFailure()) {
            final ControlLane control =
                    opened.add(new ControlLane(transport, LaneConfig.Role.RECEIVER, loss, context.clock()));
            final StreamProtection protection = opened.add(StreamProtection.of(
                    subscriber.channel().link().security(),
                    control,
                    onControl,
                    session -> membership.isOpening() || sessions.find(session) != null,
                    notices,
                    secrets));
            final SubscriptionLanes lanes =
                    new SubscriptionLanes(transport, control, loss, context.notices(), conductor);
            final SubscriptionCounters counters = new SubscriptionCounters(
                    context.counters(), subscriber, lanes, protection, sessions, membership, notices);
            final SourceReports reports = new SourceReports(subscriber, membership, counters, notices);
            opened.keep();
            return new SubscriptionAssembly(group, membership, sessions, notices, lanes, protection, counters, reports);
        }
    }

    /// Leaves the channel: closes all lanes; frames stay readable.
    @Override
    public void close() {
        CloseHelper.quietCloseAll(group, sessions::leave, counters, lanes.control(), lanes.transport(), protection);
    }
}
