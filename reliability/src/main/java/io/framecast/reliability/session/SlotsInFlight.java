package io.framecast.reliability.session;

import io.framecast.reliability.lane.SendLanePort;
import io.framecast.reliability.window.SendWindow;

/// The slots of the send window that a lane's transport still reads: a device gathers a datagram when it sends it,
/// perhaps long after it accepted it.
///
/// Threading: one thread.
final class SlotsInFlight {
    private final SendLanePort lane;
    // By slot: datagrams submitted to the lane up to the last that uses it.
    private final long[] usedBy;

    SlotsInFlight(final SendLanePort lane, final int slots) {
        this.lane = lane;
        usedBy = new long[slots];
    }

    /// The lane accepted these slots, the last ones so far.
    void onSent(final int firstSlot, final int count) {
        final long submitted = lane.submitted();
        if (count == 0 || lane.completed() == submitted) {
            return;
        }
        for (int i = 0; i < count; i++) {
            usedBy[firstSlot + i] = submitted - count + 1 + i;
        }
    }

    /// The first sequence from the window's oldest on whose slot must not change.
    ///
    /// @param limit at most this
    long freeable(final SendWindow window, final long limit) {
        final long completed = lane.completed();
        if (completed == lane.submitted()) {
            return limit;
        }
        long sequence = window.freed();
        while (sequence < limit && usedBy[window.slot(sequence)] <= completed) {
            sequence++;
        }
        return sequence;
    }
}
