package io.framecast.engine.node;

import io.framecast.api.LossReason;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// A subscription's links to its sources, those that are over until the subscriber has taken everything, and
/// what those counted that are gone. By the receiver's thread.
final class ReceiverSessions {
    private final List<ReceiverSession> links = new ArrayList<>();
    private final WireTotals retired = new WireTotals();
    private final WireTotals totals = new WireTotals();

    int size() {
        return links.size();
    }

    ReceiverSession get(final int index) {
        return links.get(index);
    }

    void add(final ReceiverSession link) {
        links.add(link);
    }

    /// Its counts stay.
    ///
    /// @return whether it was there
    boolean remove(final ReceiverSession link) {
        final boolean removed = links.remove(link);
        if (removed) {
            retired.add(link);
        }
        return removed;
    }

    /// The one with open lanes that has this number, or null.
    @Nullable
    ReceiverSession find(final long session) {
        for (int i = 0; i < links.size(); i++) {
            final ReceiverSession link = links.get(i);
            if (!link.hasLeft() && link.id() == session) {
                return link;
            }
        }
        return null;
    }

    /// Any with open lanes, or null.
    @Nullable
    ReceiverSession any() {
        for (int i = 0; i < links.size(); i++) {
            if (!links.get(i).hasLeft()) {
                return links.get(i);
            }
        }
        return null;
    }

    /// How many frames come from.
    int receiving() {
        int count = 0;
        for (int i = 0; i < links.size(); i++) {
            count += links.get(i).isReceiving() ? 1 : 0;
        }
        return count;
    }

    /// The one whose handshake is under way, or null.
    @Nullable
    ReceiverSession joining() {
        for (int i = 0; i < links.size(); i++) {
            if (links.get(i).isJoining()) {
                return links.get(i);
            }
        }
        return null;
    }

    /// Sources that said their last are answered until they are silent, for an answer may be lost.
    ///
    /// @param nowNs `Long.MAX_VALUE` takes all of them for silent
    void forgetEnded(final long nowNs) {
        for (int i = 0; i < links.size(); i++) {
            if (links.get(i).isForgotten(nowNs)) {
                links.get(i).leave();
            }
        }
    }

    boolean areShown() {
        for (int i = 0; i < links.size(); i++) {
            if (!links.get(i).isShown()) {
                return false;
            }
        }
        return true;
    }

    void arm() {
        for (int i = 0; i < links.size(); i++) {
            links.get(i).arm();
        }
    }

    void tellDescriptors(final IntConsumer told) {
        for (int i = 0; i < links.size(); i++) {
            links.get(i).tellDescriptors(told);
        }
    }

    long nextDeadlineNs() {
        long deadlineNs = Long.MAX_VALUE;
        for (int i = 0; i < links.size(); i++) {
            deadlineNs = Math.min(deadlineNs, links.get(i).nextDeadlineNs());
        }
        return deadlineNs;
    }

    boolean mustLook() {
        for (int i = 0; i < links.size(); i++) {
            if (links.get(i).mustLook()) {
                return true;
            }
        }
        return false;
    }

    /// Frames that were lost, told or not, in all sessions so far.
    long lost(final LossReason reason) {
        long total = retired.lost(reason);
        for (int i = 0; i < links.size(); i++) {
            total += links.get(i).queue().losses().total(reason);
        }
        return total;
    }

    /// Datagrams of the sessions that are left which no peer of theirs can have sent.
    long foreignDatagrams() {
        long total = 0;
        for (int i = 0; i < links.size(); i++) {
            final ReceiverSession session = links.get(i);
            total += links.get(i).hasLeft() ? 0 : ForeignTraffic.datagrams(session.repairLane());
            total += ForeignTraffic.datagrams(session.machine().verdicts());
        }
        return total;
    }

    /// What all sessions so far counted; valid until the next call.
    WireTotals totals() {
        totals.set(retired);
        for (int i = 0; i < links.size(); i++) {
            totals.add(links.get(i));
        }
        return totals;
    }

    /// Closes the lanes of all.
    void leave() {
        links.forEach(ReceiverSession::leave);
    }

    /// Whether all memory can be freed, for nobody polls any more.
    boolean areDrained() {
        boolean drained = true;
        for (int i = 0; i < links.size(); i++) {
            drained &= links.get(i).isDrained();
        }
        return drained;
    }

    /// Frees the memory of all. By the conductor, when nobody else uses this any more.
    void close() {
        CloseHelper.closeAll(links);
    }
}
