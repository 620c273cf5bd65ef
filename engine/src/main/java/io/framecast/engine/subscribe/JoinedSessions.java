package io.framecast.engine.subscribe;

import io.framecast.api.LossCounts;
import io.framecast.api.LossReason;
import io.framecast.api.SubscriberStats;
import io.framecast.engine.session.ForeignTraffic;
import io.framecast.reliability.receive.ReceiverCount;
import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.wire.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// A subscription's sessions with its sources. Sessions that are over stay until the subscriber has taken
/// everything; the counts of removed sessions stay in the totals. Used by the receiver's thread.
final class JoinedSessions {
    private final List<JoinedSession> sessions = new ArrayList<>();
    private final long[] retiredLost = new long[LossReason.values().length];
    private SubscriberStats retired = new SubscriberStats(0, 0, 0, 0, 0, 0, LossCounts.NONE, 0, 0);

    int size() {
        return sessions.size();
    }

    JoinedSession get(final int index) {
        return sessions.get(index);
    }

    void add(final JoinedSession session) {
        sessions.add(session);
    }

    /// Removes a session and keeps its counts.
    ///
    /// @return whether the session was present
    boolean remove(final JoinedSession session) {
        final boolean removed = sessions.remove(session);
        if (removed) {
            retired = plus(retired, session, 0);
            for (final LossReason reason : LossReason.values()) {
                retiredLost[reason.ordinal()] += session.queue().losses().total(reason);
            }
        }
        return removed;
    }

    /// The session with this number and open lanes, or null.
    @Nullable
    JoinedSession find(final long id) {
        for (int i = 0; i < sessions.size(); i++) {
            final JoinedSession session = sessions.get(i);
            if (!session.hasLeft() && session.id() == id) {
                return session;
            }
        }
        return null;
    }

    /// Any session with open lanes, or null.
    @Nullable
    JoinedSession any() {
        for (int i = 0; i < sessions.size(); i++) {
            if (!sessions.get(i).hasLeft()) {
                return sessions.get(i);
            }
        }
        return null;
    }

    /// The session whose handshake is under way, or null.
    @Nullable
    JoinedSession joining() {
        for (int i = 0; i < sessions.size(); i++) {
            if (sessions.get(i).life().isJoining()) {
                return sessions.get(i);
            }
        }
        return null;
    }

    /// Closes the lanes of sessions whose source ended and fell silent. Until then they answer the source,
    /// because an answer may be lost.
    ///
    /// @param nowNs `Long.MAX_VALUE` treats all sources as silent
    void forgetEnded(final long nowNs) {
        for (int i = 0; i < sessions.size(); i++) {
            if (sessions.get(i).life().isForgotten(nowNs)) {
                sessions.get(i).leave();
            }
        }
    }

    boolean arePollable() {
        for (int i = 0; i < sessions.size(); i++) {
            if (!sessions.get(i).isPollable()) {
                return false;
            }
        }
        return true;
    }

    void arm() {
        for (int i = 0; i < sessions.size(); i++) {
            sessions.get(i).arm();
        }
    }

    void collectDescriptors(final IntConsumer descriptors) {
        for (int i = 0; i < sessions.size(); i++) {
            sessions.get(i).collectDescriptors(descriptors);
        }
    }

    long nextDeadlineNs() {
        long deadlineNs = Long.MAX_VALUE;
        for (int i = 0; i < sessions.size(); i++) {
            deadlineNs = Math.min(deadlineNs, sessions.get(i).nextDeadlineNs());
        }
        return deadlineNs;
    }

    boolean mustPoll() {
        for (int i = 0; i < sessions.size(); i++) {
            if (sessions.get(i).mustPoll()) {
                return true;
            }
        }
        return false;
    }

    /// Frames lost in all sessions so far, reported or not.
    long lost(final LossReason reason) {
        long total = retiredLost[reason.ordinal()];
        for (int i = 0; i < sessions.size(); i++) {
            total += sessions.get(i).queue().losses().total(reason);
        }
        return total;
    }

    /// Datagrams of the remaining sessions that no peer of theirs can have sent.
    long foreignDatagrams() {
        long total = 0;
        for (int i = 0; i < sessions.size(); i++) {
            final JoinedSession session = sessions.get(i);
            total += sessions.get(i).hasLeft() ? 0 : ForeignTraffic.datagrams(session.repairLane());
            total += ForeignTraffic.datagrams(session.machine().verdicts());
        }
        return total;
    }

    /// The counts of all sessions so far, added up, without those of the subscriber's thread.
    SubscriberStats stats(final long rejoins) {
        SubscriberStats total = retired;
        for (final JoinedSession session : sessions) {
            total = plus(total, session, rejoins);
        }
        return total;
    }

    private static SubscriberStats plus(final SubscriberStats total, final JoinedSession session, final long rejoins) {
        final ReceiverMachine machine = session.machine();
        return new SubscriberStats(
                0,
                0,
                0,
                total.reassembledBytes() + session.protocol().assembly().reassembledBytes(),
                total.repairedDatagrams() + machine.counts().get(ReceiverCount.REPAIRED_DATAGRAMS),
                total.duplicateDatagrams() + machine.verdicts().get(Verdict.DUPLICATE),
                LossCounts.NONE,
                total.rejectedDatagrams() + machine.verdicts().rejected(),
                rejoins);
    }

    /// Closes the lanes of all.
    void leave() {
        sessions.forEach(JoinedSession::leave);
    }

    /// Whether all memory can be freed; the subscriber polls no more.
    boolean areDrained() {
        boolean drained = true;
        for (int i = 0; i < sessions.size(); i++) {
            drained &= sessions.get(i).isDrained();
        }
        return drained;
    }

    /// Frees the memory of all sessions. By the conductor, after the last use by another thread.
    void close() {
        CloseHelper.closeAll(sessions);
    }
}
