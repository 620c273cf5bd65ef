package io.framecast.reliability.sim;

import java.util.Comparator;
import java.util.PriorityQueue;

/// Virtual time: one queue of events, ordered by time and, within one instant, by when they were added.
final class SimEvents {
    private record Event(long timeNs, long order, Runnable action) {}

    private final PriorityQueue<Event> queue =
            new PriorityQueue<>(Comparator.comparingLong(Event::timeNs).thenComparingLong(Event::order));
    private long nowNs;
    private long added;
    private long run;

    long nowNs() {
        return nowNs;
    }

    /// Events that ran.
    long count() {
        return run;
    }

    void at(final long timeNs, final Runnable action) {
        queue.add(new Event(Math.max(nowNs, timeNs), added++, action));
    }

    /// Runs the next event.
    ///
    /// @return false when there is none
    boolean step() {
        final Event event = queue.poll();
        if (event == null) {
            return false;
        }
        nowNs = event.timeNs;
        run++;
        event.action.run();
        return true;
    }
}
