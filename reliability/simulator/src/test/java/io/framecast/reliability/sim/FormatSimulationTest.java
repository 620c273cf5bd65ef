package io.framecast.reliability.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/// Every frame comes with the format that it was published with, with losses and with late joiners. `FrameCheck`
/// compares them, in all simulations.
@Execution(ExecutionMode.CONCURRENT)
final class FormatSimulationTest {
    private static final int FRAMES = 200;

    private static void assertClean(final SimReport report) {
        assertEquals(List.of(), report.violations(), () -> "seed " + report.seed());
    }

    private static SimReport changing(final long seed, final double loss, final Plant plant) {
        final SimOptions options = SimOptions.quiet(4, FRAMES)
                .withLink(LinkSpec.lossy(loss))
                .withFormats(1)
                .withPlant(plant);
        return Simulation.run(seed, options);
    }

    /// Three times as many formats as numbers, and a change after every other frame.
    @Test
    void shouldDeliverEachFrameWithItsFormatWhenFivePercentAreLost() {
        change(20);
    }

    @Tag("campaign")
    @Test
    void shouldDeliverEachFrameWithItsFormatWhenFivePercentAreLostInManyRuns() {
        change(60);
    }

    private static void change(final long seeds) {
        for (long seed = 1; seed <= seeds; seed++) {
            final SimReport report = changing(seed, 0.05, Plant.NONE);
            assertClean(report);
            assertEquals(4 * FRAMES, report.of(SimCount.FRAMES));
        }
    }

    @Test
    void shouldFindThatAMemberTakesAnOldFormatWhenNothingSaysThatItIsOld() {
        boolean found = false;
        for (long seed = 1; seed <= 60 && !found; seed++) {
            found = !changing(seed, 0.05, Plant.FORGET_NEW_FORMAT).isClean();
        }
        assertTrue(found);
    }

    /// Late joiners, crashes, policies and co-roots of the seed, a change after every other frame.
    @Tag("campaign")
    @Test
    void shouldDeliverEachFrameWithItsFormatWhenReceiversComeAndGo() {
        for (long seed = 1; seed <= 3_000; seed++) {
            final Swarm swarm = Swarm.of(1 + (int) (seed % 5), 0.05);
            final SimOptions options =
                    SimOptions.draw(new SplittableRandom(seed), seed % 2 == 0 ? swarm : swarm.withCrashes());
            assertClean(Simulation.run(seed, options.withFormats(1 + (int) (seed % 3))));
        }
    }

    @Test
    void shouldDeliverEachFrameWithItsFormatWhenHostsShareAMembership() {
        share(20);
    }

    @Tag("campaign")
    @Test
    void shouldDeliverEachFrameWithItsFormatWhenHostsShareAMembershipInManyRuns() {
        share(60);
    }

    private static void share(final long seeds) {
        for (long seed = 1; seed <= seeds; seed++) {
            final Swarm swarm = Swarm.of(4, 0.05).withHostGroup(4).withCrashes();
            final SimOptions options = SimOptions.draw(new SplittableRandom(seed), swarm);
            assertClean(Simulation.run(seed, options.withFormats(1)));
        }
    }
}
