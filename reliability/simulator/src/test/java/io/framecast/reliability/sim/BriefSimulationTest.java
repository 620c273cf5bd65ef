package io.framecast.reliability.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.framecast.reliability.sim.plan.Swarm;
import io.framecast.reliability.sim.record.SimReport;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A few seeds of everything, in less than a second. Mutation testing, which tries thousands of changed
/// protocols, runs it in place of the long simulations (docs/mutation.md).
final class BriefSimulationTest {
    private static void assertClean(final SimReport report) {
        assertEquals(List.of(), report.violations(), () -> "seed " + report.seed());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 6})
    void shouldKeepEveryPromiseWhenFaultsAreDrawnFromTheSeed(final int receivers) {
        for (long seed = 1; seed <= 3; seed++) {
            assertClean(Simulation.run(seed, Swarm.of(receivers, -1)));
        }
    }

    @Test
    void shouldKeepEveryPromiseWhenProcessesCrash() {
        for (long seed = 1; seed <= 4; seed++) {
            assertClean(Simulation.run(seed, Swarm.of(4, 0.03).withCrashes()));
        }
    }
}
