package io.framecast.engine.subscribe;

import io.framecast.api.SourceEvent;
import io.framecast.api.Subscriber;
import io.framecast.engine.session.DisconnectReason;
import io.framecast.reliability.membership.MembershipMachine;
import io.framecast.reliability.membership.MembershipMachine.Step;

/// Reports the changes of its sources to the subscriber: their events, its own state, and the reason why it
/// receives from none.
///
/// The receiver's thread.
final class SourceReports {
    private final EngineSubscriber subscriber;
    private final MembershipMachine membership;
    private final SubscriptionCounters counters;
    private final SourceNotices notices;
    private final JoinObstacle obstacle = new JoinObstacle();
    private final int rejoinMs;
    // The queue of a session waits for those before, whichever sources they are of.
    private final boolean ordered;
    // Of the source that was lost last.
    private String loss = "";

    SourceReports(
            final EngineSubscriber subscriber,
            final MembershipMachine membership,
            final SubscriptionCounters counters,
            final SourceNotices notices) {
        this.subscriber = subscriber;
        this.membership = membership;
        this.counters = counters;
        this.notices = notices;
        rejoinMs = subscriber.channel().stream().rejoinMs();
        ordered = subscriber.channel().stream().sources().count() == 1;
    }

    JoinObstacle obstacle() {
        return obstacle;
    }

    /// The subscriber is a member of a session.
    void onJoined(final JoinedSession session, final SourceEvent.Kind kind) {
        obstacle.clear();
        session.onJoined();
        final SourceEvent event =
                new SourceEvent(session.id(), kind, session.protocol().firstFrameId(), "");
        subscriber.add(session.queue(), event, session.protocol().firstReportedId(), ordered);
        counters.publishStats();
    }

    /// A handshake takes long.
    void onSlow(final JoinedSession session) {
        session.onObstacle(DisconnectReason.joining(session.machine()));
        onAlone(session.obstacle());
    }

    /// A source ended, and everything was delivered.
    void onEnded(final JoinedSession session) {
        session.onOver();
        end(session, SourceEvent.Kind.ENDED, "");
        if (membership.isOver()) {
            subscriber.onState(Subscriber.State.END_OF_STREAM);
        }
    }

    /// A source is lost.
    ///
    /// @param step LOST, or GONE where its frames were another leader's
    void onLost(final JoinedSession session, final Step step, final String reason) {
        loss = reason;
        session.onOver();
        if (step == Step.LOST) {
            end(session, SourceEvent.Kind.LOST, reason);
        }
        if (membership.isOver()) {
            subscriber.onEnd(Subscriber.State.SOURCE_LOST, reason);
        }
    }

    /// The session of a lost source is left, and the source is waited for.
    ///
    /// @param step as in [#onLost]
    void onLeft(final Step step, final String reason) {
        if (step == Step.GONE) {
            subscriber.onAlone(reason);
            notices.accept(reason);
        } else {
            onAlone(reason);
            subscriber.listener().onLost(notices, reason);
        }
    }

    /// A source was declined.
    void onDeclined(final String reason) {
        onAlone(reason);
        notices.onDeclined(reason);
    }

    private void onAlone(final String reason) {
        if (membership.receiving() == 0) {
            subscriber.onAlone(reason);
        }
    }

    /// The lost source did not return in time.
    void onVain() {
        subscriber.onEnd(Subscriber.State.SOURCE_LOST, vain(loss, rejoinMs));
    }

    /// @param loss why the source was lost
    static String vain(final String loss, final int rejoinMs) {
        return loss + "; waited " + rejoinMs + " ms (rejoin) in vain";
    }

    private void end(final JoinedSession session, final SourceEvent.Kind kind, final String reason) {
        counters.publishStats();
        subscriber.end(session.queue(), new SourceEvent(session.id(), kind, SourceEvent.NO_FRAME, reason));
    }
}
