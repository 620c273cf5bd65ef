package io.framecast.reliability.sim;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.List;
import java.util.random.RandomGenerator;

/// An end of the network: bounded queues of arrived datagrams per lane, as sockets have, and a duty cycle that
/// runs when something arrived or the node's own deadline came. Never earlier: a machine that needs more has a
/// wrong deadline.
abstract class SimNode {
    private final SimEvents events;
    private final RandomGenerator random;
    // By the lane's ordinal.
    private final List<ArrayDeque<MemorySegment>> inboxes =
            List.of(new ArrayDeque<>(), new ArrayDeque<>(), new ArrayDeque<>());
    private final int queueDatagrams;
    private long wakeNs = Long.MAX_VALUE;
    private long busyUntilNs;
    private long overflows;
    private boolean stopped;

    SimNode(final SimEvents events, final RandomGenerator random, final int queueDatagrams) {
        this.events = events;
        this.random = random;
        this.queueDatagrams = queueDatagrams;
    }

    final long nowNs() {
        return events.nowNs();
    }

    final SimEvents events() {
        return events;
    }

    final RandomGenerator random() {
        return random;
    }

    /// Datagrams lost because a queue was full.
    final long overflows() {
        return overflows;
    }

    /// From now on the node neither hears nor speaks nor acts.
    final void stop() {
        stopped = true;
        inboxes.forEach(ArrayDeque::clear);
    }

    final boolean isStopped() {
        return stopped;
    }

    final ArrayDeque<MemorySegment> inbox(final SimLane lane) {
        return inboxes.get(lane.ordinal());
    }

    final void arrive(final SimLane lane, final MemorySegment datagram) {
        if (stopped) {
            return;
        }
        final ArrayDeque<MemorySegment> inbox = inboxes.get(lane.ordinal());
        if (inbox.size() >= queueDatagrams) {
            overflows++;
            return;
        }
        inbox.add(datagram);
        wakeAt(nowNs() + random.nextInt(2_000));
    }

    final void wakeAt(final long timeNs) {
        final long time = Math.max(timeNs, busyUntilNs);
        if (stopped || time >= wakeNs) {
            return;
        }
        wakeNs = time;
        events.at(time, () -> wake(time));
    }

    private void wake(final long timeNs) {
        if (stopped || timeNs != wakeNs) {
            return;
        }
        wakeNs = Long.MAX_VALUE;
        final int work = cycle();
        busyUntilNs = nowNs() + 200 + 300L * work;
        boolean waiting = false;
        for (final ArrayDeque<MemorySegment> inbox : inboxes) {
            waiting |= !inbox.isEmpty();
        }
        final long next = waiting ? nowNs() : nextDeadlineNs();
        if (next != Long.MAX_VALUE) {
            wakeAt(next);
        }
    }

    /// One duty cycle.
    ///
    /// @return datagrams dealt with
    abstract int cycle();

    /// When the next cycle has something to do though nothing arrives.
    abstract long nextDeadlineNs();
}
