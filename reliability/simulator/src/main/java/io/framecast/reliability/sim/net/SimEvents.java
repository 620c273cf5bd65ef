package io.framecast.reliability.sim.net;

import java.util.PriorityQueue;

/// Virtual time: one queue of events, ordered by time and, within one instant, by their order of adding.
public final class SimEvents {
    private record Event(long timeNs, long order, Runnable action) implements Comparable<Event> {
        @Override
        public int compareTo(final Event other) {
            return timeNs == other.timeNs ? Long.compare(order, other.order) : Long.compare(timeNs, other.timeNs);
        }
    }

    private final PriorityQueue<Event> queue = new PriorityQueue<>();
    private long nowNs;
    private long added;
    private long run;

    /// The true time.
    public long nowNs() {
        return nowNs;
    }

    /// Events that ran.
    public long count() {
        return run;
    }

    public void at(final long timeNs, final Runnable action) {
        queue.add(new Event(Math.max(nowNs, timeNs), added++, action));
    }

    /// Runs the next event.
    ///
    /// @return false when there is none
    public boolean step() {
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
