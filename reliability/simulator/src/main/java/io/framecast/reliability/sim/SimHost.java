package io.framecast.reliability.sim;

import io.framecast.reliability.sim.net.SimClock;
import io.framecast.reliability.sim.net.SimLane;
import io.framecast.reliability.sim.net.SimLink;
import io.framecast.reliability.sim.record.SimCount;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import java.util.function.BiFunction;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// A machine of the network: its links, the rate of its clock, and its present process. The process can be killed
/// without notice, started again and stopped for a while, in any role. A restarted process has its
/// predecessor's address, and hears datagrams that were under way to it.
final class SimHost implements SimLink.End {
    private static final long CLOCK_BEGIN_MAX_NS = 3_600_000_000_000L;
    private static final long EPOCH_OFFSET_MAX_NS = 2_000_000_000L;

    private final SimWorld world;
    private final BiFunction<SimHost, SplittableRandom, SimNode> role;
    private final Links links;
    private final RandomGenerator random;
    private final boolean skewed;
    private final int ratePpm;
    private final int address;
    private @Nullable SimNode process;
    private boolean gone;
    private int starts;

    /// A host's two directions, to it and from it.
    record Links(SimLink down, SimLink up) {}

    /// @param role the process that starts here
    SimHost(
            final SimWorld world,
            final int address,
            final BiFunction<SimHost, SplittableRandom, SimNode> role,
            final Links links,
            final RandomGenerator random) {
        this.world = world;
        this.address = address;
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

    /// Whether a process takes datagrams of the group.
    boolean listens() {
        final SimNode running = process;
        return running != null && running.listens();
    }

    /// Starts a process, unless one runs.
    void start() {
        if (process != null || gone) {
            return;
        }
        starts++;
        if (starts > 1) {
            world.count(SimCount.RESTARTS);
            if (address == SimNetwork.SOURCE) {
                world.archive().replay();
            } else {
                world.archive().replay(address);
            }
        }
        process = role.apply(this, world.random().split());
    }

    /// Kills the process without notice.
    void crash() {
        final SimNode running = process;
        if (running != null) {
            world.count(SimCount.CRASHES);
            world.journal().decide(world.events().nowNs(), address, starts);
            running.stop();
            process = null;
        }
    }

    /// The process ended by itself, and no other will follow.
    void retire() {
        gone = true;
        final SimNode running = process;
        if (running != null) {
            running.stop();
            process = null;
        }
    }

    /// Stops the process until a time of the true clock.
    void pause(final long untilNs) {
        final SimNode running = process;
        if (running != null) {
            world.count(SimCount.PAUSES);
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
}
