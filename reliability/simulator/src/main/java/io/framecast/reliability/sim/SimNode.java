package io.framecast.reliability.sim;

import io.framecast.reliability.sim.net.SimClock;
import io.framecast.reliability.sim.net.SimEvents;
import io.framecast.reliability.sim.net.SimInbox;
import io.framecast.reliability.sim.net.SimLane;
import java.lang.foreign.MemorySegment;
import java.util.random.RandomGenerator;

/// A process: bounded queues of arrived datagrams, a clock of its own, and a duty cycle. A cycle runs when a
/// datagram has arrived or the process's own deadline has come, never earlier: a machine that needs an earlier
/// cycle has a wrong deadline.
abstract class SimNode {
    private static final int WAKE_DELAY_MAX_NS = 2_000;
    private static final long FAR_NS = 1L << 50;

    private final SimHost host;
    private final SimWorld world;
    private final SimEvents events;
    private final RandomGenerator random;
    private final SimClock clock;
    private final SimInbox control;
    // Times of the true clock.
    private long wakeNs = Long.MAX_VALUE;
    private long busyUntilNs;
    private long pausedUntilNs;
    private boolean stopped;

    /// @param controlDatagrams room for datagrams of the control lane
    SimNode(final SimHost host, final RandomGenerator random, final int controlDatagrams) {
        this.host = host;
        world = host.world();
        events = world.events();
        clock = host.clock();
        this.random = random;
        control = new SimInbox(SimLane.CONTROL, controlDatagrams, world.journal());
    }

    /// The time by this process's clock.
    final long nowNs() {
        return clock.at(events.nowNs());
    }

    final SimHost host() {
        return host;
    }

    final SimWorld world() {
        return world;
    }

    final SimClock clock() {
        return clock;
    }

    final SimEvents events() {
        return events;
    }

    final RandomGenerator random() {
        return random;
    }

    final SimInbox inbox() {
        return control;
    }

    /// From now on the process neither receives nor sends nor acts.
    final void stop() {
        stopped = true;
        control.clear();
        conclude();
    }

    /// The process or the run is over: sums are closed.
    void conclude() {}

    final boolean isStopped() {
        return stopped;
    }

    /// Stands still until a time of the true clock; arriving datagrams wait.
    final void pause(final long untilNs) {
        pausedUntilNs = Math.max(pausedUntilNs, untilNs);
    }

    final boolean isPaused() {
        return events.nowNs() < pausedUntilNs;
    }

    /// The end of the last pause; 0 if it never stood still.
    final long pausedUntilNs() {
        return pausedUntilNs;
    }

    /// Whether it takes datagrams of the group.
    boolean listens() {
        return true;
    }

    final void arrive(final SimLane lane, final MemorySegment datagram) {
        if (!stopped && enqueue(lane, datagram)) {
            wakeAfter(random.nextInt(WAKE_DELAY_MAX_NS));
        }
    }

    /// Puts a datagram into the queue of the duty cycle.
    ///
    /// @return whether there was room
    boolean enqueue(final SimLane lane, final MemorySegment datagram) {
        return lane == SimLane.CONTROL && control.add(datagram);
    }

    final void wakeAfter(final long ns) {
        final long time = Math.max(events.nowNs() + ns, Math.max(busyUntilNs, pausedUntilNs));
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
        if (isPaused()) {
            wakeAfter(0);
            return;
        }
        final int work = cycle();
        busyUntilNs = events.nowNs() + 200 + 300L * work;
        final long next = isWaiting() ? Long.MIN_VALUE : nextDeadlineNs();
        // A planted bug may take a deadline from a forged datagram, which no clock reaches.
        if (next < nowNs() + FAR_NS) {
            wakeAfter(next <= nowNs() ? 0 : clock.trueNs(next) - events.nowNs());
        }
    }

    /// Whether a datagram arrived that was not taken.
    boolean isWaiting() {
        return !control.isEmpty();
    }

    /// One duty cycle.
    ///
    /// @return datagrams dealt with
    abstract int cycle();

    /// The time, by the process's clock, at which the next cycle has something to do without an arrival.
    abstract long nextDeadlineNs();
}
