package io.framecast.reliability.sim;

import io.framecast.reliability.sim.net.SimClock;
import io.framecast.reliability.sim.net.SimLane;
import io.framecast.reliability.sim.net.SimLink;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// A machine of the network: its links, the rate of its clock, and its present process. The process can be killed
/// without notice, started again and stopped for a while, whatever its role. A restarted process has its
/// predecessor's address, and hears datagrams that were under way to it.
final class SimHost implements SimLink.End {
    /// The role of a process on a host.
    interface Role {
        SimNode start(SimHost host, SplittableRandom random);
    }

    private static final long CLOCK_BEGIN_MAX_NS = 3_600_000_000_000L;
    private static final long EPOCH_OFFSET_MAX_NS = 2_000_000_000L;

    private final SimWorld world;
    private final Role role;
    private final Links links;
    private final RandomGenerator random;
    private final boolean skewed;
    private final int ratePpm;
    private int address = SimNetwork.SOURCE;
    private @Nullable SimNode process;
    private boolean gone;
    private int starts;
    private long overflows;
    private long losses;

    /// A host's two directions, to it and from it.
    record Links(SimLink down, SimLink up) {
        long drops() {
            return down.drops() + up.drops();
        }
    }

    SimHost(final SimWorld world, final Role role, final Links links, final RandomGenerator random) {
        this.world = world;
        this.role = role;
        this.links = links;
        this.random = random;
        skewed = random.nextDouble() < world.options().faults().skew();
        ratePpm = skewed ? random.nextInt(2 * SimClock.RATE_PPM_MAX + 1) - SimClock.RATE_PPM_MAX : 0;
    }

    SimWorld world() {
        return world;
    }

    Links links() {
        return links;
    }

    int address() {
        return address;
    }

    void address(final int value) {
        address = value;
    }

    /// A clock for a process that starts now.
    SimClock clock() {
        return skewed
                ? new SimClock(world.events().nowNs(), random.nextLong(CLOCK_BEGIN_MAX_NS), ratePpm)
                : SimClock.TRUE;
    }

    /// The offset of this host's calendar from the others'.
    long epochOffsetNs() {
        return skewed ? random.nextLong(2 * EPOCH_OFFSET_MAX_NS) - EPOCH_OFFSET_MAX_NS : 0;
    }

    @Nullable
    SimNode process() {
        return process;
    }

    boolean isUp() {
        return process != null;
    }

    /// Whether nothing will ever run here again.
    boolean isGone() {
        return gone;
    }

    /// Starts a process, unless one runs.
    void start() {
        if (process != null || gone) {
            return;
        }
        starts++;
        if (starts > 1) {
            world.tally().restarts++;
            if (address == SimNetwork.SOURCE) {
                world.archive().replay();
            } else {
                world.archive().replay(address);
            }
        }
        process = role.start(this, world.random().split());
    }

    /// Kills the process without notice.
    void crash() {
        final SimNode running = process;
        if (running != null) {
            world.tally().crashes++;
            world.journal().decide(world.events().nowNs(), address, starts);
            bury(running);
        }
    }

    /// The process ended by itself, and no other will follow.
    void retire() {
        gone = true;
        final SimNode running = process;
        if (running != null) {
            bury(running);
        }
    }

    private void bury(final SimNode running) {
        running.stop();
        overflows += running.overflows();
        losses += running.losses();
        process = null;
    }

    /// Stops the process until a time of the true clock.
    void pause(final long untilNs) {
        final SimNode running = process;
        if (running != null) {
            world.tally().pauses++;
            running.pause(untilNs);
        }
    }

    @Override
    public void arrive(final SimLane lane, final MemorySegment datagram) {
        final SimNode running = process;
        if (running != null) {
            running.arrive(lane, datagram);
        }
    }

    /// Datagrams lost on the way to or from here.
    long drops() {
        final SimNode running = process;
        return links.drops() + overflows + (running == null ? 0 : running.overflows());
    }

    /// Datagrams of the data and repair lanes that were lost on the way here, or came too late.
    long losses() {
        final SimNode running = process;
        return links.down.losses() + losses + (running == null ? 0 : running.losses());
    }
}
