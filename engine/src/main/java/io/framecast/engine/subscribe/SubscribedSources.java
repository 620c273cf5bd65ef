package io.framecast.engine.subscribe;

import io.framecast.api.Channel;
import io.framecast.api.SourceEvent;
import io.framecast.api.Subscriber;
import io.framecast.api.error.TransportException;
import io.framecast.api.spi.Transport;
import io.framecast.engine.port.ControlLane;
import io.framecast.engine.session.DisconnectReason;
import io.framecast.engine.session.Failures;
import io.framecast.engine.session.Policies;
import io.framecast.engine.session.SessionContext;
import io.framecast.engine.subscribe.lanes.SubscriptionLanes;
import io.framecast.engine.subscribe.protect.Admission;
import io.framecast.engine.subscribe.protect.StreamProtection;
import io.framecast.reliability.membership.MembershipMachine;
import io.framecast.reliability.membership.MembershipMachine.Step;
import io.framecast.reliability.wire.CoRootOffer;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.HeartbeatLayout;
import io.framecast.reliability.wire.JoinLayout;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Verdict;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;

/// The sources of a subscription: hears them on the control lane, has the sessions opened that the
/// [MembershipMachine] wants, and carries out what it decides about them.
///
/// Threading: the receiver's thread.
final class SubscribedSources {
    private static final long NEVER = Long.MAX_VALUE;

    private final EngineSubscriber subscriber;
    private final Channel channel;
    private final SecureRandom secrets = new SecureRandom();
    private final SubscriptionAssembly parts;
    private final GroupRole group;
    private final MembershipMachine membership;
    private final JoinedSessions sessions;
    private final SubscriptionLanes lanes;
    private final StreamProtection protection;
    private final SourceReports reports;
    private final SessionOpener opener;
    private final HeaderChecksum checksum = new HeaderChecksum();
    private final ControlLane.Handler onControl = this::onControl;
    private final GroupRole.Heir heir = this::begin;
    // Malformed control datagrams that arrived while there was no session to count them.
    private long strays;
    // The subscription is closing or closed.
    private boolean leaving;
    private boolean closed;

    /// @param group the subscriber's role in its host group, this object's from now on
    /// @param transport this object's from now on
    SubscribedSources(
            final EngineSubscriber subscriber,
            final GroupRole group,
            final Transport transport,
            final SessionContext context,
            final ReceiverAgent receiver) {
        this.subscriber = subscriber;
        this.group = group;
        channel = subscriber.channel();
        parts = SubscriptionAssembly.open(
                subscriber, group, transport, context, receiver.conductor()::send, onControl, secrets);
        membership = parts.membership();
        sessions = parts.sessions();
        lanes = parts.lanes();
        protection = parts.protection();
        reports = parts.reports();
        opener = new SessionOpener(
                receiver, new JoinedSessionFactory(subscriber, context, lanes), protection.seals(), new Opened());
    }

    SubscriptionAssembly parts() {
        return parts;
    }

    /// Malformed control datagrams that no session counts.
    long strays() {
        return strays;
    }

    boolean isLeaving() {
        return leaving;
    }

    /// Instead of [#onControl] and all else: opens a session and closes it. Nothing is sent. The caller's thread.
    void warmUp(final StreamInfo stream) {
        leaving = true;
        try {
            sessions.add(opener.openNow(stream, new Admission.Plain(1), group.join(secrets.nextLong())));
        } finally {
            close();
        }
    }

    /// In each cycle: the membership of an earlier leader of the host group goes on before any other source is
    /// heard.
    void takeOver(final long nowNs) {
        if (!membership.isOpening() && !membership.isOver()) {
            group.takeOver(protection, nowNs, heir);
        }
    }

    /// Takes the control datagrams that have come.
    int poll(final long nowNs) {
        final int work = protection.doWork(nowNs);
        return work + lanes.control().poll(onControl, nowNs);
    }

    private void onControl(final MemorySegment datagram, final long offset, final int bytes, final long nowNs) {
        final JoinedSession session = sessions.find(ControlLayout.SESSION.get(datagram, offset));
        if (session != null) {
            session.onControl(datagram, offset, bytes, nowNs);
            return;
        }
        final JoinedSession other = sessions.any();
        if (other != null) {
            // That session counts the datagram, as another session's or as malformed.
            other.onControl(datagram, offset, bytes, nowNs);
        }
        if (membership.isListening()) {
            listen(datagram, offset, bytes, nowNs);
        }
    }

    private void listen(final MemorySegment datagram, final long offset, final int bytes, final long nowNs) {
        if (ControlLayout.check(datagram, offset, bytes, checksum) != Verdict.GOOD) {
            strays += sessions.any() == null ? 1 : 0;
            parts.notices().onMalformed(datagram, offset, bytes, nowNs);
            return;
        }
        if (ControlLayout.type(datagram, offset) != ControlLayout.TYPE_HEARTBEAT
                || !HeartbeatLayout.isValid(datagram, offset)) {
            return;
        }
        final boolean ends = (ControlLayout.FLAGS.get(datagram, offset) & HeartbeatLayout.FLAG_END_OF_STREAM) != 0;
        if (membership.isWanted(ControlLayout.SESSION.get(datagram, offset), ends, nowNs)) {
            final StreamInfo stream = HeartbeatLayout.info(datagram, offset);
            if (stream.channel().equals(channel.name()) && hasRoom(nowNs) && group.mayJoin()) {
                begin(stream, group.join(secrets.nextLong()));
            }
        }
    }

    // Whether one more source has a place. A place that is blocked by a stale or finished session is freed here.
    private boolean hasRoom(final long nowNs) {
        final JoinedSession joining = sessions.joining();
        return switch (membership.room(nowNs)) {
            case FREE -> true;
            case TAKEN -> false;
            case SILENT -> {
                if (joining != null) {
                    decline(joining, reports.obstacle().onSilent(joining));
                }
                yield false;
            }
            case FULL -> {
                sessions.forgetEnded(NEVER);
                yield false;
            }
        };
    }

    // Asks the conductor for a session.
    private void begin(final StreamInfo stream, final Membership from) {
        opener.open(stream, protection.admission(stream), from);
        // Set only after the request: if the conductor refuses it, the subscription waits for nothing.
        membership.onOpening();
    }

    /// The outcome of [SubscribedSources#begin].
    private final class Opened implements SessionOpener.Outcome {
        @Override
        public void onOpened(final JoinedSession made, final long nowNs) {
            membership.onOpened(made.life(), nowNs);
            sessions.add(made);
            if (leaving) {
                close();
                return;
            }
            try {
                made.protocol().resumeFrom(membership.nextFrameId(made.id()));
                made.start(nowNs);
            } catch (final TransportException e) {
                // The transport cannot use the source's address.
                membership.decline(made.life(), nowNs);
                decline(made, Failures.line("join of " + channel.name(), e));
            } catch (final RuntimeException e) {
                fail(Failures.line("join of " + channel.name(), e));
            }
        }

        // The subscription listens for another source, or for the same one later.
        @Override
        public void onIncompatible(
                final StreamInfo stream,
                final Admission admission,
                final IncompatibleSourceException cause,
                final long nowNs) {
            if (cause.isOfRingMax() && !leaving) {
                refuse(stream, admission);
            }
            membership.onNotOpened(stream.session(), nowNs);
            onDeclined(String.valueOf(cause.getMessage()));
        }

        @Override
        public void onOpenFailed(final long session, final String reason, final long nowNs) {
            if (membership.onOpenFailed(session, nowNs)) {
                fail(reason);
            } else {
                onDeclined(reason);
            }
        }
    }

    // A JOIN without a ring, so that the source's operator hears of this subscriber too.
    private void refuse(final StreamInfo stream, final Admission admission) {
        final ControlLane control = lanes.control();
        final byte[] own = control.address().toBytes();
        final JoinLayout.Terms terms = new JoinLayout.Terms(
                JoinLayout.NO_RING,
                Policies.onWire(channel.stream().delivery()),
                secrets.nextLong(),
                new LaneAddresses(own, own),
                CoRootOffer.NONE);
        final ControlWriter writer = new ControlWriter(stream.session())
                .receiver(admission.receiverId())
                .in(control.slot());
        control.unicastTo(stream.controlAddress(), JoinLayout.write(writer, terms));
    }

    private void onDeclined(final String reason) {
        if (leaving) {
            close();
        } else {
            reports.onDeclined(reason);
        }
    }

    // The source does not match this subscription, or does not answer. The session's memory is freed.
    private void decline(final JoinedSession session, final String reason) {
        session.leave();
        protection.forget(session.id());
        free(session);
        onDeclined(reason);
    }

    /// Frees a session's memory.
    void free(final JoinedSession session) {
        if (sessions.remove(session)) {
            membership.onFreed(session.life());
            subscriber.remove(session.queue());
            lanes.conductor().execute(session::close);
        }
    }

    /// After a session's cycle: carries out the changes of its membership.
    void follow(final JoinedSession session, final long nowNs) {
        final long stoodNs = session.protocol().standstillNs();
        if (stoodNs > 0 && !membership.isOver() && !session.life().isOver()) {
            parts.notices().onStandstill(stoodNs, nowNs);
        }
        for (Step step = membership.step(session.life(), nowNs);
                step != Step.NONE;
                step = membership.step(session.life(), nowNs)) {
            follow(session, step, nowNs);
        }
    }

    private void follow(final JoinedSession session, final Step step, final long nowNs) {
        switch (step) {
            case NONE -> {}
            case JOINED -> reports.onJoined(session, SourceEvent.Kind.JOINED);
            case REJOINED -> reports.onJoined(session, SourceEvent.Kind.REJOINED);
            case SLOW -> reports.onSlow(session);
            case ENDED -> reports.onEnded(session);
            case LOST, GONE -> onLost(session, step, DisconnectReason.lost(session.machine(), nowNs));
            case DECLINED -> decline(session, reports.obstacle().onDeclined(session));
            case UNFIT -> subscriber.onEnd(Subscriber.State.FAILED, DisconnectReason.notJoined(session.machine(), ""));
        }
    }

    private void onLost(final JoinedSession session, final Step step, final String reason) {
        reports.onLost(session, step, reason);
        if (!membership.isOver()) {
            session.leave();
            protection.forget(session.id());
            reports.onLeft(step, reason);
        }
    }

    /// Ends all sessions, for a cause that no source has. Frames stay valid until the user closes them.
    void fail(final String reason) {
        if (!membership.isOver() && !leaving) {
            subscriber.onEnd(Subscriber.State.FAILED, reason);
        }
        membership.onFailed();
        leave();
    }

    /// Leaves the channel and closes the lanes; the user's frames stay readable. Idempotent.
    void leave() {
        leaving = true;
        if (!membership.isOpening()) {
            close();
        }
    }

    private void close() {
        if (!closed) {
            closed = true;
            parts.close();
        }
    }
}
