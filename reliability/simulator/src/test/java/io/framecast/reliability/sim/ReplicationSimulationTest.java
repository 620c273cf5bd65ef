package io.framecast.reliability.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.send.CoRootConfig;
import io.framecast.reliability.send.CoRootConfig.Feed;
import io.framecast.reliability.sim.plan.LinkSpec;
import io.framecast.reliability.sim.plan.Plant;
import io.framecast.reliability.sim.plan.SimOptions;
import io.framecast.reliability.sim.plan.Swarm;
import io.framecast.reliability.sim.record.SimCount;
import io.framecast.reliability.sim.record.SimReport;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// `feed=unicast` by writes into co-roots' replicas, in the simulator: connections that are slow and break,
/// co-roots that die and come again, sources that stand still meanwhile.
final class ReplicationSimulationTest {
    private static final int SEEDS = 40;
    private static final int MANY_SEEDS = 150;

    private static SimOptions drawn(final long seed, final Swarm swarm) {
        final CoRootConfig coRoots = new CoRootConfig(1 + (int) seed % 3, Feed.UNICAST);
        return SimOptions.draw(new SplittableRandom(seed), swarm)
                .withCoRoots(coRoots)
                .withoutSites()
                .withOneSided(seed % 4 == 0 ? 0.5 : 1);
    }

    private static void run(final long seeds, final Swarm swarm) {
        long written = 0;
        long owned = 0;
        for (long seed = 1; seed <= seeds; seed++) {
            final SimReport report = Simulation.run(seed, drawn(seed, swarm));
            assertEquals(List.of(), report.violations(), "seed " + seed);
            written += report.of(SimCount.WRITTEN);
            owned += report.of(SimCount.OWNED);
        }
        assertTrue(
                written > 6 * seeds && owned > seeds / 4,
                written + " written, " + owned + " of them for the co-root itself");
    }

    @Test
    void shouldKeepEveryPromiseWhenConnectionsBreak() {
        run(SEEDS, Swarm.of(8, 0.05));
    }

    @Tag("campaign")
    @Test
    void shouldKeepEveryPromiseWhenConnectionsBreakInManyRuns() {
        run(MANY_SEEDS, Swarm.of(8, 0.05));
    }

    @Test
    void shouldKeepEveryPromiseWhenProcessesDieMeanwhile() {
        run(SEEDS, Swarm.of(8, 0.05).withCrashes());
    }

    @Tag("campaign")
    @Test
    void shouldKeepEveryPromiseWhenProcessesDieMeanwhileInManyRuns() {
        run(MANY_SEEDS, Swarm.of(8, 0.05).withCrashes());
    }

    /// Co-roots among receivers whose payloads land in device memory: there is no other replica than the one
    /// written.
    @Test
    void shouldKeepEveryPromiseWhereCoRootsKeepNothingThemselves() {
        runDirect(SEEDS);
    }

    @Tag("campaign")
    @Test
    void shouldKeepEveryPromiseWhereCoRootsKeepNothingThemselvesInManyRuns() {
        runDirect(MANY_SEEDS);
    }

    private static void runDirect(final long seeds) {
        long written = 0;
        long served = 0;
        for (long seed = 1; seed <= seeds; seed++) {
            final SimReport report =
                    Simulation.run(seed, Swarm.of(8, 0.05).withCrashes().withDirect());
            assertEquals(List.of(), report.violations(), "seed " + seed);
            written += report.of(SimCount.WRITTEN);
            served += report.of(SimCount.SET_REPAIRS);
        }
        assertTrue(written > 6 * seeds && served > seeds / 4, written + " written, " + served + " repairs by co-roots");
    }

    @Test
    void shouldFindThatASlotIsUsedAgainWhileItIsWritten() {
        final Plant plant = Plant.REUSE_FED_SLOT;
        boolean found = false;
        for (long seed = 1; seed <= MANY_SEEDS && !found; seed++) {
            found = !Simulation.run(seed, drawn(seed, Swarm.of(8, 0.05)).withPlant(plant))
                    .isClean();
        }
        assertTrue(found, plant.label());
    }

    @Test
    void shouldWriteWhatCoRootsKeepWhenTheirLinksStand() {
        final SimOptions options = SimOptions.quiet(8, 200)
                .withLink(LinkSpec.CLEAN.withLoss(0.02))
                .withOneSided(1)
                .withCoRoots(new CoRootConfig(2, Feed.UNICAST))
                .withoutSites();
        final SimReport report = Simulation.run(7, options);
        assertEquals(List.of(), report.violations());
        assertTrue(report.of(SimCount.WRITTEN) > report.of(SimCount.SENT), report::toString);
        assertTrue(report.of(SimCount.OWNED) > 4, report::toString);
        // Co-roots send the datagrams that they hold; members hardly ask the source.
        assertTrue(report.of(SimCount.REPAIRS) - report.of(SimCount.SET_REPAIRS) < 20, report::toString);
    }
}
