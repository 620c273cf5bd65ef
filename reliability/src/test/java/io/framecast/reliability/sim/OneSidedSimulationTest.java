package io.framecast.reliability.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.sim.plan.LinkSpec;
import io.framecast.reliability.sim.plan.SimOptions;
import io.framecast.reliability.sim.plan.Swarm;
import io.framecast.reliability.sim.record.SimCount;
import io.framecast.reliability.sim.record.SimReport;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Grants written into the source's memory and repairs read out of it, in the simulator: connections that are
/// slow, that break, that are cut between the parts of a read; sources that stand still or die meanwhile.
final class OneSidedSimulationTest {
    private static final Swarm SWARM = Swarm.of(8, 0.05).withOneSided();

    private static Map<SimCount, Long> run(final Swarm swarm, final int seeds) {
        final Map<SimCount, Long> sums = new EnumMap<>(SimCount.class);
        for (int seed = 1; seed <= seeds; seed++) {
            final SimReport report = Simulation.run(seed, swarm);
            assertEquals(List.of(), report.violations(), "seed " + seed);
            report.counts().forEach((what, count) -> sums.merge(what, count, Long::sum));
        }
        return sums;
    }

    private static void assertMore(final long least, final Map<SimCount, Long> sums, final SimCount what) {
        assertTrue(sums.get(what) > least, () -> what + " of " + sums);
    }

    private static void assertAllUsed(final Map<SimCount, Long> sums) {
        assertMore(1000, sums, SimCount.WORDS);
        assertMore(1000, sums, SimCount.PULLS);
        assertMore(30, sums, SimCount.BROKEN_LINKS);
        assertMore(300, sums, SimCount.SET_PULLS);
        assertMore(100, sums, SimCount.STALE_PULLS);
        assertMore(500, sums, SimCount.WRITTEN);
        assertMore(10, sums, SimCount.OWNED);
    }

    @Test
    void shouldKeepEveryPromiseWhenConnectionsBreak() {
        assertAllUsed(run(SWARM, 150));
    }

    @Test
    void shouldKeepEveryPromiseWhenProcessesDieMeanwhile() {
        assertAllUsed(run(SWARM.withCrashes(), 150));
    }

    @Test
    void shouldHaveTheSourceRepairNothingWhileReadsSucceed() {
        final SimOptions options = SimOptions.quiet(8, 200).withLink(LinkSpec.CLEAN.withLoss(0.02));
        final SimReport without = Simulation.run(7, options);
        final SimReport with = Simulation.run(7, options.withOneSided(1));
        assertEquals(List.of(), without.violations());
        assertEquals(List.of(), with.violations());
        assertEquals(without.of(SimCount.FRAMES), with.of(SimCount.FRAMES));
        assertTrue(without.of(SimCount.REPAIRS) > 100, without::toString);
        assertEquals(0, with.of(SimCount.REPAIRS), with::toString);
        assertTrue(with.of(SimCount.PULLS) > 100, with::toString);
        // ACKs, NACKs and requests.
        assertTrue(with.of(SimCount.TAKEN) < without.of(SimCount.TAKEN), with::toString);
    }

    @Test
    void shouldReplayWhenTheSeedIsTheSame() {
        final SimReport one = Simulation.run(11, SWARM.withCrashes());
        assertEquals(one, Simulation.run(11, SWARM.withCrashes()));
    }
}
