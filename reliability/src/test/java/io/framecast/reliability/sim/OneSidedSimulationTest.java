package io.framecast.reliability.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.sim.plan.LinkSpec;
import io.framecast.reliability.sim.plan.SimOptions;
import io.framecast.reliability.sim.plan.Swarm;
import io.framecast.reliability.sim.record.SimReport;
import io.framecast.reliability.sim.record.SimReport.OneSided;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Grants written into the source's memory and repairs read out of it, in the simulator: connections that are
/// slow, that break, that are cut between the parts of a read; sources that stand still or die meanwhile.
final class OneSidedSimulationTest {
    private static final Swarm SWARM = Swarm.of(8, 0.05).withOneSided();

    private static OneSided run(final Swarm swarm, final int seeds) {
        long words = 0;
        long written = 0;
        long owned = 0;
        long pulls = 0;
        long setPulls = 0;
        long stale = 0;
        long broken = 0;
        for (int seed = 1; seed <= seeds; seed++) {
            final SimReport report = Simulation.run(seed, swarm);
            assertEquals(List.of(), report.violations(), "seed " + seed);
            words += report.oneSided().words();
            written += report.oneSided().written();
            owned += report.oneSided().owned();
            pulls += report.oneSided().pulls();
            setPulls += report.oneSided().setPulls();
            stale += report.oneSided().stale();
            broken += report.oneSided().broken();
        }
        return new OneSided(words, written, owned, pulls, setPulls, stale, broken);
    }

    @Test
    void shouldKeepEveryPromiseWhenConnectionsBreak() {
        final OneSided done = run(SWARM, 150);
        assertTrue(done.words() > 1000 && done.pulls() > 1000 && done.broken() > 50, done::toString);
        assertTrue(done.setPulls() > 300 && done.stale() > 100, done::toString);
        assertTrue(done.written() > 500 && done.owned() > 10, done::toString);
    }

    @Test
    void shouldKeepEveryPromiseWhenProcessesDieMeanwhile() {
        final OneSided done = run(SWARM.withCrashes(), 150);
        assertTrue(done.words() > 1000 && done.pulls() > 1000 && done.broken() > 50, done::toString);
        assertTrue(done.setPulls() > 300 && done.stale() > 100, done::toString);
        assertTrue(done.written() > 500 && done.owned() > 10, done::toString);
    }

    @Test
    void shouldHaveTheSourceRepairNothingWhileReadsSucceed() {
        final SimOptions options = SimOptions.quiet(8, 200).withLink(LinkSpec.CLEAN.withLoss(0.02));
        final SimReport without = Simulation.run(7, options);
        final SimReport with = Simulation.run(7, options.withOneSided(1));
        assertEquals(List.of(), without.violations());
        assertEquals(List.of(), with.violations());
        assertEquals(without.delivery().frames(), with.delivery().frames());
        assertTrue(without.traffic().repairs() > 100, without::toString);
        assertEquals(0, with.traffic().repairs(), with::toString);
        assertTrue(with.oneSided().pulls() > 100, with::toString);
        // ACKs, NACKs and requests.
        assertTrue(with.control().taken() < without.control().taken(), with::toString);
    }

    @Test
    void shouldReplayWhenTheSeedIsTheSame() {
        final SimReport one = Simulation.run(11, SWARM.withCrashes());
        assertEquals(one, Simulation.run(11, SWARM.withCrashes()));
    }
}
