package io.framecast.engine.node;

import io.framecast.api.spi.Lane;
import io.framecast.reliability.window.SendWindow;

/// Which slots of the send window a lane's transport still reads: a device gathers a datagram when it comes
/// to it, which may be long after it was handed over, and must find what was there.
///
/// One thread.
final class SlotsInFlight {
    private final Lane lane;
    // By slot: how many datagrams the lane had been given with the last that uses it.
    private final long[] usedBy;

    SlotsInFlight(final Lane lane, final int slots) {
        this.lane = lane;
        usedBy = new long[slots];
    }

    /// The lane took these slots, last of all it was given. Transports that copy are done with them already.
    void onSent(final int firstSlot, final int count) {
        final long submitted = lane.submitted();
        if (count == 0 || lane.completed() == submitted) {
            return;
        }
        for (int i = 0; i < count; i++) {
            usedBy[firstSlot + i] = submitted - count + 1 + i;
        }
    }

    /// The first sequence from the window's oldest on whose slot may not be written to.
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
