package io.framecast.engine.subscribe;

import io.framecast.api.LossReason;
import io.framecast.api.Subscriber;
import io.framecast.api.spi.Transport;
import io.framecast.engine.ready.ReadySet;
import io.framecast.engine.session.ForeignTraffic;
import io.framecast.engine.session.SessionAgent;
import io.framecast.engine.session.SessionContext;
import io.framecast.engine.subscribe.lanes.SubscriptionLanes;
import io.framecast.engine.subscribe.protect.StreamProtection;
import io.framecast.reliability.flow.Interval;
import io.framecast.reliability.membership.MembershipMachine;
import io.framecast.reliability.wire.StreamInfo;
import java.util.function.IntConsumer;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// A subscriber's life on its channel. It listens on the control lane for sources of the channel's name. The
/// [MembershipMachine] decides which of them it joins; the conductor opens a session for each, and the
/// subscription runs the session to its end.
///
/// Threading: [#doWork] by the receiver's thread; opening sessions and [#close] by the conductor's. Queues carry the
/// commands between them.
public final class Subscription implements SessionAgent.Member, AutoCloseable {
    private static final int WARM_UP_SLOT_BYTES = 1024;
    private static final int WARM_UP_SLOTS = 64;
    private static final long CONTROL_INTERVAL_NS = 100_000;
    private static final long NEVER = Long.MAX_VALUE;

    private final EngineSubscriber subscriber;
    private final GroupRole group;
    private final SubscribedSources sources;
    private final SubscriptionLanes lanes;
    private final StreamProtection protection;
    private final MembershipMachine membership;
    // At most twice as many as sources: sessions that are over stay until the subscriber has taken everything.
    private final JoinedSessions sessions;
    private final ForeignTraffic foreign;
    private final Interval polls = new Interval(CONTROL_INTERVAL_NS);
    private boolean busy;

    /// @param group the subscriber's role in its host group, this object's from now on
    /// @param transport this object's from now on
    public Subscription(
            final EngineSubscriber subscriber,
            final GroupRole group,
            final Transport transport,
            final SessionContext context,
            final ReceiverAgent receiver) {
        this.subscriber = subscriber;
        this.group = group;
        sources = new SubscribedSources(subscriber, group, transport, context, receiver);
        lanes = sources.parts().lanes();
        protection = sources.parts().protection();
        membership = sources.parts().membership();
        sessions = sources.parts().sessions();
        foreign = ForeignTraffic.ofSubscriber(
                subscriber.channel(),
                () -> sources.strays()
                        + ForeignTraffic.datagrams(lanes.control().lane())
                        + sessions.foreignDatagrams(),
                context.notices());
    }

    /// Instead of a life: opens a session and closes all, so that the classes are there. Nothing is
    /// sent, and what comes is not read. The caller's thread.
    public void warmUp() {
        final byte[] own = lanes.control().address().toBytes();
        final String name = subscriber.channel().name();
        try {
            sources.warmUp(
                    new StreamInfo(1, name, WARM_UP_SLOT_BYTES, WARM_UP_SLOTS, WARM_UP_SLOT_BYTES, 1000, own, own));
        } finally {
            close();
        }
    }

    @Override
    public String name() {
        return sources.parts().notices().name();
    }

    public EngineSubscriber subscriber() {
        return subscriber;
    }

    /// The session of the source that was heard first among the remaining ones; null for none.
    @Nullable
    public JoinedSession session() {
        return sessions.size() == 0 ? null : sessions.get(0);
    }

    /// The number of sources that deliver frames.
    public int sources() {
        return membership.receiving();
    }

    /// Frames lost, reported or not.
    public long lost(final LossReason reason) {
        return sessions.lost(reason);
    }

    @Override
    public int readyDescriptor() {
        return lanes.transport().readyDescriptor();
    }

    @Override
    public void collectDescriptors(final IntConsumer descriptors) {
        if (!sources.isLeaving()) {
            descriptors.accept(lanes.control().lane().readyDescriptor());
            sessions.collectDescriptors(descriptors);
        }
    }

    @Override
    public void arm() {
        if (!sources.isLeaving()) {
            lanes.control().lane().armReady();
            sessions.arm();
        }
    }

    private boolean isPollable() {
        return lanes.transport().readyDescriptor() != ReadySet.NONE
                || (lanes.control().lane().readyDescriptor() != ReadySet.NONE && sessions.arePollable());
    }

    @Override
    public long nextDeadlineNs() {
        return sources.isLeaving()
                ? NEVER
                : Math.min(
                        Math.min(membership.nextDeadlineNs(), protection.nextDeadlineNs()), sessions.nextDeadlineNs());
    }

    @Override
    public boolean mustPoll() {
        return !sources.isLeaving() && (!isPollable() || sessions.mustPoll());
    }

    @Override
    public int doWork(final long nowNs) {
        if (sources.isLeaving()) {
            return 0;
        }
        onCycle(nowNs);
        group.onCycle();
        sources.takeOver(nowNs);
        int work = pollControl(nowNs);
        busy = false;
        // Backwards, because the loop may remove a session.
        for (int i = sessions.size() - 1; i >= 0; i--) {
            final JoinedSession session = sessions.get(i);
            final int done = session.doWork(nowNs);
            busy |= done > 0;
            work += done;
            sources.follow(session, nowNs);
            if (sources.isLeaving()) {
                return work;
            }
            if (session.isReleased(subscriber.listener())) {
                sources.free(session);
            }
        }
        if (!membership.isOver()) {
            publishState(nowNs);
        }
        foreign.tick(nowNs);
        if (!membership.isOver() && membership.receiving() == 0) {
            protection.noticeStrangers(nowNs);
        }
        sources.parts().counters().tick(work, nowNs);
        return work;
    }

    // After a standstill of this process, a source that is being joined has time to answer.
    private void onCycle(final long nowNs) {
        final long stoodNs = membership.onCycle(nowNs);
        final JoinedSession joining = stoodNs == 0 ? null : sessions.joining();
        if (joining != null) {
            joining.machine().onStandstill(nowNs);
        }
    }

    // While data arrives, the control lane carries little.
    private int pollControl(final long nowNs) {
        if (busy && !polls.isDue(nowNs)) {
            return 0;
        }
        polls.begin(nowNs);
        return sources.poll(nowNs);
    }

    private void publishState(final long nowNs) {
        sessions.forgetEnded(nowNs);
        if (membership.onTick(nowNs)) {
            sources.parts().reports().onVain();
        } else {
            subscriber.onState(membership.receiving() > 0 ? Subscriber.State.READY : Subscriber.State.JOINING);
        }
    }

    /// Frames, device and subscriber stay valid until the user closes them.
    @Override
    public void fail(final String reason) {
        sources.fail(reason);
    }

    /// Receiver: leaves the channel and closes the lanes; the user's frames stay readable. Idempotent.
    void leave() {
        sources.leave();
    }

    /// Whether the memory can be freed.
    boolean isReleased() {
        return !membership.isOpening() && sessions.areDrained() && !isBusy();
    }

    /// Whether the device still runs work, perhaps a kernel of the user: a thread that freed the memory now would
    /// wait for it.
    public boolean isBusy() {
        return subscriber.device().isBusy();
    }

    @Override
    public void close() {
        CloseHelper.closeAll(sessions::close, subscriber.posted()::close, subscriber.device());
    }
}
