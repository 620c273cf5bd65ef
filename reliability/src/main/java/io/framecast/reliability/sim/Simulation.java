package io.framecast.reliability.sim;

import io.framecast.reliability.ReceiverMachine.State;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/// One source, many receivers, a hostile network and an all-knowing checker, in virtual time. Everything
/// follows from a seed: the same seed gives the same events, digest and violations on any machine.
///
/// The checker demands that every receiver gets each frame exactly once, in order, whole, with the right
/// bytes at its final address, from the boundary on at which it became a member; that the source never passes
/// a member's grant and never frees what a member lacks; that every gap is reported; that nobody is evicted
/// or gives up without silence; and that all comes to an end once faults stop.
public final class Simulation {
    /// When quiet runs begin to publish: everybody has joined, however often the handshake was lost.
    static final long QUIET_BEGIN_NS = 500_000_000;

    private static final long FAULTS_NS = 1_500_000_000;
    private static final long END_MAX_NS = 60_000_000_000L;
    private static final long EVENTS_MAX = 20_000_000;
    private static final int INCARNATIONS_MAX = 3;

    private final SimOptions options;
    private final SplittableRandom random;
    private final SimEvents events = new SimEvents();
    private final SimNetwork network = new SimNetwork();
    private final SimJournal journal = new SimJournal();
    private final List<SimReceiver> receivers = new ArrayList<>();
    private final SimReceiver.World world;
    private final SimReceiver.Session session;
    private final SimSource source;
    private final long seed;
    private int expectedJoins;

    private Simulation(final long seed, final SimOptions options, final SplittableRandom random) {
        this.seed = seed;
        this.options = options;
        this.random = random;
        final long nonce = random.nextLong();
        // Every other ghost shares the true session's low half, which is all that headers carry in clear.
        final long ghost = random.nextBoolean() ? nonce ^ ((1L + random.nextInt(1000)) << 32) : random.nextLong();
        session = new SimReceiver.Session(nonce, ghost);
        final SimFrames frames =
                new SimFrames(random.nextLong(), options.stream().firstFrameId());
        world = new SimReceiver.World(events, network, options, frames, journal);
        source = new SimSource(world, random.split(), session, receivers);
        network.source(source);
    }

    /// Runs the swarm run of a seed: options are drawn from it.
    ///
    /// @param loss mean loss of all links, or negative to draw it too
    public static SimReport run(final long seed, final int receivers, final double loss, final Plant plant) {
        final SplittableRandom random = new SplittableRandom(seed);
        final SimOptions options =
                SimOptions.draw(random.split(), receivers, loss).withPlant(plant);
        return new Simulation(seed, options, random).run();
    }

    /// Runs given options.
    public static SimReport run(final long seed, final SimOptions options) {
        return new Simulation(seed, options, new SplittableRandom(seed)).run();
    }

    private SimReport run() {
        for (int r = 0; r < options.receivers(); r++) {
            addReceiver();
        }
        source.begin(options.chaos() == 0 ? QUIET_BEGIN_NS : random.nextLong(50_000_000));
        try {
            while (!isDone() && journal.isClean() && isWithinBounds()) {
                if (!events.step()) {
                    journal.violation(events.nowNs(), "nothing is left to happen");
                }
            }
        } catch (final IllegalStateException | IndexOutOfBoundsException e) {
            journal.violation(events.nowNs(), "threw " + e);
        }
        if (journal.isClean()) {
            checkEnd();
        }
        return report();
    }

    private void addReceiver() {
        final LinkSpec spec = options.link();
        final SimLink down = new SimLink(events, random.split(), vary(spec));
        final SimLink up = new SimLink(events, random.split(), vary(spec));
        final long calmNs = options.chaos() == 0 ? END_MAX_NS / 2 : FAULTS_NS;
        down.calmFrom(calmNs);
        up.calmFrom(calmNs);
        if (happens(0.2)) {
            final long from = random.nextLong(200_000_000);
            final long to = from + random.nextLong(happens(0.3) ? 900_000_000 : 100_000_000);
            if (random.nextInt(3) > 0) {
                down.partition(from, to);
            }
            if (random.nextInt(3) > 0) {
                up.partition(from, to);
            }
        }
        final long joinNs = happens(0.3) ? random.nextLong(150_000_000) : random.nextLong(1_000_000);
        expectedJoins++;
        events.at(joinNs, () -> join(down, up, 0));
    }

    private void join(final SimLink down, final SimLink up, final int incarnation) {
        expectedJoins--;
        if (source.isClosed()) {
            return;
        }
        final SimReceiver receiver =
                new SimReceiver(world, random.split(), session, down.spec().queueDatagrams());
        receiver.address(network.attach(down, up, receiver));
        receivers.add(receiver);
        if (happens(0.1)) {
            events.at(events.nowNs() + random.nextLong(300_000_000), receiver::leave);
        } else if (happens(0.1)) {
            events.at(events.nowNs() + random.nextLong(300_000_000), receiver::stop);
        }
        if (incarnation < INCARNATIONS_MAX) {
            watch(receiver, down, up, incarnation);
        }
    }

    // One who was lost comes back under another identity.
    private void watch(final SimReceiver receiver, final SimLink down, final SimLink up, final int incarnation) {
        if (receiver.isStopped() || receiver.state() == State.ENDED) {
            return;
        }
        if (receiver.isLost() && source.isClosed()) {
            return;
        }
        if (receiver.isLost() && receiver.isFinished()) {
            receiver.stop();
            expectedJoins++;
            join(down, up, incarnation + 1);
            return;
        }
        events.at(events.nowNs() + 10_000_000, () -> watch(receiver, down, up, incarnation));
    }

    private LinkSpec vary(final LinkSpec spec) {
        if (options.chaos() == 0) {
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

    private boolean happens(final double probability) {
        return random.nextDouble() < probability * options.chaos();
    }

    private boolean isDone() {
        if (expectedJoins > 0 || !source.isDrained()) {
            return false;
        }
        for (final SimReceiver receiver : receivers) {
            if (!receiver.isFinished()) {
                return false;
            }
        }
        return true;
    }

    private boolean isWithinBounds() {
        return events.nowNs() < END_MAX_NS && events.count() < EVENTS_MAX;
    }

    private void checkEnd() {
        if (!isDone()) {
            journal.violation(events.nowNs(), "does not end: " + source.describe());
        }
        for (final SimReceiver receiver : receivers) {
            if (!receiver.isStopped() && !receiver.isFinished()) {
                journal.violation(events.nowNs(), receiver.describe());
            }
            if (receiver.isCheated()) {
                journal.violation(events.nowNs(), "lost whole frames to a torn end: " + receiver.describe());
            }
            if (receiver.state() == State.ENDED && (source.isClosed() || !receiver.gotEverything())) {
                journal.violation(events.nowNs(), "ended without all frames: " + receiver.describe());
            }
        }
    }

    private SimReport.Control control() {
        long reports = 0;
        long repairs = 0;
        for (final SimReceiver receiver : receivers) {
            reports += receiver.reportsTaken();
            repairs += receiver.repairsSent();
        }
        return source.control(reports, repairs);
    }

    private SimReport report() {
        long bytes = 0;
        long givenUp = 0;
        for (final SimReceiver receiver : receivers) {
            bytes += receiver.deliveredBytes();
            givenUp += receiver.givenUpFrames();
        }
        return new SimReport(
                seed,
                events.count(),
                network.drops(),
                source.machine().counts().repairedDatagrams(),
                journal.frames(),
                givenUp,
                bytes,
                source.wireBytes(),
                source.machine().counts().evictions(),
                control(),
                journal.reliableNs(),
                events.nowNs(),
                journal.digest(),
                journal.violations());
    }
}
