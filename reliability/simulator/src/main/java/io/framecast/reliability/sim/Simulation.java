package io.framecast.reliability.sim;

import io.framecast.reliability.sim.net.SimLink;
import io.framecast.reliability.sim.plan.LinkSpec;
import io.framecast.reliability.sim.plan.SimOptions;
import io.framecast.reliability.sim.plan.Swarm;
import io.framecast.reliability.sim.record.SimCount;
import io.framecast.reliability.sim.record.SimJournal;
import io.framecast.reliability.sim.record.SimReport;
import io.framecast.reliability.sim.secure.SecureRun;
import io.framecast.reliability.sim.secure.SimSecurity;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/// One source, many receivers, a hostile network and an all-knowing checker, in virtual time. The seed determines
/// everything: the same seed gives the same events, digest and violations on any machine.
///
/// The checker demands of every receiver that it gets each frame exactly once, in order, whole, with the right
/// bytes at its final address while it holds the frame, from its first boundary on. The source must never pass a
/// member's grant, and never free a slot that a member lacks. Every gap must be reported, and repairs must be in
/// proportion to losses. Each end must give the other up after the alive-timeout's silence, and not before. No
/// datagram of one session may reach another, and the run must end once faults stop.
public final class Simulation {
    /// The time of the first frame in quiet runs. All receivers have joined by then, however often the network
    /// lost the handshake.
    public static final long QUIET_BEGIN_NS = 500_000_000;

    private static final long END_MAX_NS = 60_000_000_000L;
    private static final long EVENTS_MAX = 20_000_000;
    /// A NACK that the network duplicates is answered twice.
    private static final long REPAIRS_PER_LOSS_MAX = 2;
    /// In a run, however few its losses: a NACK is repeated when its answer is late.
    private static final long REPAIRS_FREE_MAX = 16;
    private static final long WATCH_NS = 20_000_000;

    /// Faults at given times, for tests.
    interface Script {
        void plan(SimFaults faults, SimHost source, List<SimHost> receivers);
    }

    private final SimOptions options;
    private final SplittableRandom random;
    private final SimWorld world;
    private final SimFaults faults;
    private final SimHost source;
    private final long seed;

    private Simulation(
            final long seed,
            final SimOptions options,
            final SplittableRandom random,
            final @Nullable SimSecurity security) {
        this.seed = seed;
        this.options = options;
        this.random = random;
        world = SimWorld.of(options, random, security, seed);
        faults = new SimFaults(world, random.split());
        source = new SimHost(world, SimNetwork.SOURCE, this::startSource, links(LinkSpec.CLEAN), random.split());
        world.network().source(source);
    }

    /// Runs the swarm run of a seed: options are drawn from it.
    public static SimReport run(final long seed, final Swarm swarm) {
        return run(seed, swarm, null);
    }

    /// As [#run(long, Swarm)], of protected streams with an adversary in the network.
    ///
    /// @param security makes the ends; null for streams without protection, and no adversary
    public static SimReport run(final long seed, final Swarm swarm, final @Nullable SimSecurity security) {
        final SplittableRandom random = new SplittableRandom(seed);
        final SimOptions options = SimOptions.draw(random.split(), swarm).withPlant(swarm.plant());
        return new Simulation(seed, options, random, security).run((_, _, _) -> {});
    }

    /// Runs given options.
    public static SimReport run(final long seed, final SimOptions options) {
        return run(seed, options, (_, _, _) -> {});
    }

    /// Runs given options, with faults at given times besides those that are drawn.
    static SimReport run(final long seed, final SimOptions options, final Script script) {
        return new Simulation(seed, options, new SplittableRandom(seed), null).run(script);
    }

    private SimReport run(final Script script) {
        try (SecureRun _ = world.secure()) {
            return runToItsEnd(script);
        }
    }

    private SimReport runToItsEnd(final Script script) {
        for (int r = 0; r < options.receivers(); r++) {
            if (options.audience().hostGroup() > 1) {
                addGroup();
            } else {
                addReceiver((on, own, user) -> new SimReceiver(on, own, user));
            }
        }
        source.start();
        faults.planSource(source, world.network().hosts());
        script.plan(faults, source, world.network().hosts());
        world.events().at(WATCH_NS, this::watch);
        try {
            while (!isDone() && world.journal().isClean() && isWithinBounds()) {
                if (!world.events().step()) {
                    world.violation("nothing is left to happen");
                }
            }
        } catch (final IllegalStateException | IndexOutOfBoundsException e) {
            world.violation("threw " + e);
        }
        if (source.process() instanceof final SimSource running) {
            running.conclude();
        }
        if (world.journal().isClean()) {
            checkEnd();
            checkRepairs();
        }
        world.journal().count(SimCount.EVENTS, world.events().count());
        return world.journal()
                .report(
                        seed,
                        world.events().nowNs(),
                        world.tail().gaps(),
                        world.tail().tails());
    }

    private SimNode startSource(final SimHost host, final SplittableRandom own) {
        final long now = world.events().nowNs();
        final long beginNs = now + (options.faults().isNone() ? QUIET_BEGIN_NS : random.nextLong(50_000_000));
        return new SimSource(host, own, beginNs);
    }

    private interface Role {
        SimReceiver start(SimHost host, SplittableRandom random, SimUser user);
    }

    private void addGroup() {
        final SimGroup group = new SimGroup(faults, random.split());
        for (int i = 0; i < options.audience().hostGroup(); i++) {
            addReceiver((on, own, user) -> new SimMember(on, own, user, group));
        }
        faults.plan(group);
    }

    private void addReceiver(final Role role) {
        final SimUser user = new SimUser(options, random.split());
        final int address = world.network().hosts().size();
        final SimHost.Links links = links(options.link());
        final SimHost host = new SimHost(world, address, (on, own) -> role.start(on, own, user), links, random.split());
        world.network().attach(host);
        final double late = 0.3 * options.faults().unrest();
        final long joinNs = random.nextLong(random.nextDouble() < late ? 150_000_000 : 1_000_000);
        faults.expect(joinNs, host::start);
        faults.plan(host, user);
    }

    private SimHost.Links links(final LinkSpec spec) {
        final SimHost.Links links = new SimHost.Links(
                new SimLink(world.events(), world.journal(), random.split(), vary(spec), true),
                new SimLink(world.events(), world.journal(), random.split(), vary(spec), false));
        final long calmNs = options.faults().isNone() ? END_MAX_NS / 2 : SimFaults.endNs(options.faults());
        links.down().calmFrom(calmNs);
        links.up().calmFrom(calmNs);
        return links;
    }

    private LinkSpec vary(final LinkSpec spec) {
        if (options.faults().unrest() == 0) {
            return spec;
        }
        final double factor = 2 * random.nextDouble();
        return new LinkSpec(
                spec.loss() * factor,
                spec.burst() * factor,
                spec.duplicate() * factor,
                spec.reorder() * factor,
                spec.corrupt() * factor,
                spec.clog() * factor,
                spec.delayNs() / 2 + random.nextLong(spec.delayNs()),
                spec.jitterNs(),
                spec.queueDatagrams());
    }

    // Finds violations that no machine notices from within: events that did not happen.
    private void watch() {
        if (source.process() instanceof final SimSource running && !running.isPaused()) {
            running.watch();
        }
        for (final SimHost host : world.network().hosts()) {
            if (host.process() instanceof final SimReceiver running && !running.isPaused()) {
                running.watch();
            }
        }
        world.events().at(world.events().nowNs() + WATCH_NS, this::watch);
    }

    private boolean isDone() {
        if (faults.isPending() || !(source.process() instanceof final SimSource running) || !running.isDrained()) {
            return false;
        }
        for (final SimHost host : world.network().hosts()) {
            if (host.process() instanceof final SimReceiver receiver && !receiver.isSettled(running.life())) {
                return false;
            }
        }
        return true;
    }

    private boolean isWithinBounds() {
        return world.events().nowNs() < END_MAX_NS && world.events().count() < EVENTS_MAX;
    }

    private void checkEnd() {
        if (!isDone() && source.process() instanceof final SimSource running) {
            world.violation("does not end: " + running.describe());
        }
        for (final SimHost host : world.network().hosts()) {
            if (host.process() instanceof final SimReceiver receiver) {
                if (!receiver.isSettled(world.newest())) {
                    world.violation(receiver.describe());
                }
                receiver.conclude();
            }
        }
    }

    private void checkRepairs() {
        final SimJournal journal = world.journal();
        final long losses = journal.of(SimCount.LOSSES);
        final long repairs = journal.of(SimCount.REPAIRS) - journal.of(SimCount.TIMEOUTS);
        if (repairs > REPAIRS_PER_LOSS_MAX * losses + REPAIRS_FREE_MAX) {
            world.violation(repairs + " repairs for " + losses + " losses");
        }
    }
}
