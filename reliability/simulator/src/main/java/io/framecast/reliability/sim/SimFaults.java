package io.framecast.reliability.sim;

import io.framecast.reliability.sim.net.SimLink;
import io.framecast.reliability.sim.plan.FaultMix;
import io.framecast.reliability.sim.record.SimCount;
import io.framecast.reliability.sim.secure.SecureSource;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/// Draws faults and their times from a run's mix, and carries them out. All faults are over when faults end, so
/// that the run must come to its end after that.
final class SimFaults {
    /// Links and processes are sound from then on.
    static final long CALM_NS = 1_500_000_000;
    /// The same, for runs with crashes.
    static final long CRASHES_NS = 3_000_000_000L;

    private static final long ALIVE_NS = SimSource.ALIVE_TIMEOUT_NS;
    private static final long FIRST_CRASH_NS = 20_000_000;
    private static final long FIRST_STRIKE_MAX_NS = 50_000_000;
    private static final int REPEATS_MAX = 3;

    /// A fault of a link from one time to another.
    private interface LinkFault {
        void begin(SimLink link, long fromNs, long toNs);
    }

    private final SimWorld world;
    private final RandomGenerator random;
    private final FaultMix mix;
    private final long endNs;
    private int pending;

    SimFaults(final SimWorld world, final RandomGenerator random) {
        this.world = world;
        this.random = random;
        mix = world.options().faults();
        endNs = endNs(mix);
    }

    /// The time at which the last fault is over.
    static long endNs(final FaultMix mix) {
        return mix.crashes().isAny() ? CRASHES_NS : CALM_NS;
    }

    /// Whether processes have yet to be killed, started or continued.
    boolean isPending() {
        return pending > 0;
    }

    /// An action that must happen before the run may end.
    void expect(final long timeNs, final Runnable action) {
        pending++;
        world.events().at(timeNs, () -> {
            pending--;
            action.run();
        });
    }

    /// Plans the faults of a receiver's host after its start.
    void plan(final SimHost host, final SimUser user) {
        planLinks(List.of(host), 0.2);
        planStalls(user);
        planCrashes(host, mix.crashes().receivers());
        planPauses(host);
        planParting(host);
    }

    /// Plans the faults of the source, and of all hosts at once.
    void planSource(final SimHost source, final List<SimHost> receivers) {
        planCrashes(source, mix.crashes().source());
        planPauses(source);
        planLinks(receivers, 0.3);
        planLinks(receivers.subList(0, (receivers.size() + 1) / 2), 0.2);
    }

    // A receiver that leaves sends LEAVE. A receiver that dies does not, and does not come back.
    private void planParting(final SimHost host) {
        if (happens(0.1, mix.unrest())) {
            world.events().at(random.nextLong(300_000_000), () -> {
                if (host.process() instanceof final SimReceiver receiver && !receiver.isPaused()) {
                    receiver.leave();
                    host.retire();
                }
            });
        } else if (happens(0.1, mix.unrest())) {
            world.events().at(random.nextLong(300_000_000), host::retire);
        }
    }

    private void planStalls(final SimUser user) {
        for (int i = 0; i < REPEATS_MAX && happens(0.15, mix.stalls()); i++) {
            final long from = random.nextLong(endNs / 2);
            final long to = Math.min(endNs, from + random.nextLong(3 * ALIVE_NS));
            world.count(SimCount.STALLS);
            world.events().at(from, () -> user.stall(to));
        }
    }

    private void planLinks(final List<SimHost> hosts, final double probability) {
        planLinks(hosts, probability, mix.partitions(), 9 * ALIVE_NS / 4, SimLink::partition, SimCount.PARTITIONS);
        planLinks(hosts, probability / 2, mix.clogs(), 2 * ALIVE_NS, SimLink::clog, SimCount.CLOGS);
    }

    // Any direction by itself or both, short or long, and again.
    private void planLinks(
            final List<SimHost> hosts,
            final double probability,
            final double weight,
            final long longNs,
            final LinkFault fault,
            final SimCount count) {
        for (int i = 0; i < REPEATS_MAX && happens(probability, weight); i++) {
            final long from = random.nextLong(endNs / 4);
            final long to = from + random.nextLong(random.nextInt(3) == 0 ? longNs : ALIVE_NS / 4);
            final int directions = 1 + random.nextInt(3);
            for (final SimHost host : hosts) {
                if ((directions & 1) != 0) {
                    fault.begin(host.links().down(), from, to);
                }
                if ((directions & 2) != 0) {
                    fault.begin(host.links().up(), from, to);
                }
                world.journal().count(count, Integer.bitCount(directions));
            }
        }
    }

    // Down for less than any timeout, or for longer.
    private void planCrashes(final SimHost host, final double weight) {
        for (int i = 0; i < REPEATS_MAX && happens(0.4, weight); i++) {
            final long crashNs = FIRST_CRASH_NS + random.nextLong(2 * endNs / 3);
            final long downNs = switch (random.nextInt(3)) {
                case 0 -> random.nextLong(2_000_000);
                case 1 -> random.nextLong(ALIVE_NS);
                default -> ALIVE_NS + random.nextLong(ALIVE_NS);
            };
            expect(crashNs, host::crash);
            expect(crashNs + 1 + downNs, host::start);
        }
    }

    /// Plans the deaths of a host group's leaders, each between two stores to its segment.
    void plan(final SimGroup group) {
        for (int i = 0; i < REPEATS_MAX && happens(0.7, mix.crashes().receivers()); i++) {
            // Many of them where the membership begins.
            final long fromNs = random.nextInt(3) == 0 ? FIRST_STRIKE_MAX_NS : 2 * endNs / 3;
            expect(random.nextLong(fromNs), group::armCrashes);
        }
        if (mix.crashes().isAny()) {
            expect(endNs, group::clearCrashes);
        }
    }

    private void planPauses(final SimHost host) {
        for (int i = 0; i < REPEATS_MAX && happens(0.3, mix.crashes().pauses()); i++) {
            final long from = FIRST_CRASH_NS + random.nextLong(2 * endNs / 3);
            final long ns = random.nextBoolean()
                    ? ALIVE_NS / 8 + random.nextLong(3 * ALIVE_NS / 4)
                    : ALIVE_NS + random.nextLong(2 * ALIVE_NS);
            expect(from, () -> host.pause(Math.min(endNs, from + ns)));
        }
    }

    private boolean happens(final double probability, final double weight) {
        return random.nextDouble() < probability * weight;
    }

    /// When a protected source changes its keys: at times of the seed, and when it has evicted a member.
    static final class Rekeys {
        private static final int TIMES_MAX = 3;
        private static final int ON_EVICTION_ONE_OF = 2;

        private final SimSource source;
        private final SecureSource keys;
        // Handshakes of members that are none any more.
        private final List<Long> strangers = new ArrayList<>();

        Rekeys(final SimSource source, final SecureSource keys) {
            this.source = source;
            this.keys = keys;
            for (int i = source.random().nextInt(TIMES_MAX + 1); i > 0; i--) {
                final long endNs = SimFaults.endNs(source.world().options().faults());
                final long atNs = source.events().nowNs() + source.random().nextLong(endNs / 2);
                source.events().at(atNs, () -> {
                    if (!source.isStopped() && !source.isPaused() && !source.isClosed()) {
                        change();
                        source.wakeAfter(0);
                    }
                });
            }
        }

        private void change() {
            // A member without the keys then has lost its source: data that it misses under them would never be opened.
            keys.rekey(source.nowNs(), 2 * SimSource.ALIVE_TIMEOUT_NS, this::isMember);
        }

        private boolean isMember(final int handshakeId) {
            for (final SimReception receiver : source.life().counted()) {
                if ((int) (receiver.id() >>> 32) == handshakeId
                        && !receiver.life().isDismissed()) {
                    return true;
                }
            }
            return false;
        }

        /// A member gets an EVICT in this cycle.
        void onEvict(final SimReception receiver) {
            if (source.random().nextInt(ON_EVICTION_ONE_OF) == 0) {
                strangers.add(receiver.id());
            }
        }

        /// Behind the cycle in which an EVICT was sent: it is sealed for that member.
        void evictStrangers() {
            if (!strangers.isEmpty()) {
                strangers.forEach(keys::evict);
                strangers.clear();
                change();
            }
        }
    }
}
