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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Grants written into the source's memory and repairs read out of it, in the simulator: connections that are
/// slow, that break, that are cut between the parts of a read; sources that stand still or die meanwhile.
final class OneSidedSimulationTest {
    // Of 8 receivers the connections break in too few runs: 16 or 10 times in 50 runs, as the draws fall.
    private static final Swarm SWARM = Swarm.of(12, 0.05).withOneSided();

    private static Map<SimCount, Long> run(final Swarm swarm, final long seeds) {
        final Map<SimCount, Long> sums = new EnumMap<>(SimCount.class);
        for (long seed = 1; seed <= seeds; seed++) {
            final SimReport report = Simulation.run(seed, swarm);
            assertEquals(List.of(), report.violations(), "seed " + seed);
            report.counts().forEach((what, count) -> sums.merge(what, count, Long::sum));
        }
        return sums;
    }

    private static void assertMore(final long least, final Map<SimCount, Long> sums, final SimCount what) {
        assertTrue(sums.get(what) > least, () -> what + " of " + sums);
    }

    private static void assertAllUsed(final Swarm swarm, final long seeds) {
        final Map<SimCount, Long> sums = run(swarm, seeds);
        assertMore(7 * seeds, sums, SimCount.WORDS);
        assertMore(7 * seeds, sums, SimCount.PULLS);
        assertMore(seeds / 5, sums, SimCount.BROKEN_LINKS);
        assertMore(2 * seeds, sums, SimCount.SET_PULLS);
        assertMore(seeds / 2, sums, SimCount.STALE_PULLS);
        assertMore(3 * seeds, sums, SimCount.WRITTEN);
        assertMore(seeds / 15, sums, SimCount.OWNED);
    }

    @Test
    void shouldKeepEveryPromiseWhenConnectionsBreak() {
        assertAllUsed(SWARM, 50);
    }

    @Tag("campaign")
    @Test
    void shouldKeepEveryPromiseWhenConnectionsBreakInManyRuns() {
        assertAllUsed(SWARM, 150);
    }

    @Test
    void shouldKeepEveryPromiseWhenProcessesDieMeanwhile() {
        assertAllUsed(SWARM.withCrashes(), 50);
    }

    @Tag("campaign")
    @Test
    void shouldKeepEveryPromiseWhenProcessesDieMeanwhileInManyRuns() {
        assertAllUsed(SWARM.withCrashes(), 150);
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
