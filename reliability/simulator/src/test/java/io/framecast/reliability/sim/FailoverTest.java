package io.framecast.reliability.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.framecast.reliability.send.CoRootConfig;
import io.framecast.reliability.sim.plan.SimOptions;
import io.framecast.reliability.sim.record.SimCount;
import io.framecast.reliability.sim.record.SimReport;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// The death of one receiver does not change co-roots that live.
final class FailoverTest {
    private static final SimOptions OPTIONS = SimOptions.quiet(8, 100)
            .withFrames(100_000, 1408, 512)
            .withFlow(256, 2, 0)
            .withCoRoots(new CoRootConfig(2, CoRootConfig.Feed.MULTICAST))
            .withoutSites();
    // In the midst of the stream.
    private static final long MIDST_NS = Simulation.QUIET_BEGIN_NS + 2_000_000;

    private static SimReport run(final long seed, final int dead) {
        final SimReport report = Simulation.run(
                seed,
                OPTIONS,
                (faults, _, receivers) ->
                        faults.expect(MIDST_NS, () -> receivers.get(dead).retire()));
        assertEquals(List.of(), report.violations());
        assertEquals(1, report.of(SimCount.EVICTIONS));
        return report;
    }

    /// Of eight receivers two are co-roots. After the death of any of them the source replaces no living co-root.
    @Test
    void shouldReplaceNoCoRootThatLives() {
        killEach(1);
    }

    @Tag("campaign")
    @Test
    void shouldReplaceNoCoRootThatLivesInManyRuns() {
        killEach(10);
    }

    private static void killEach(final long seeds) {
        for (long seed = 1; seed <= seeds; seed++) {
            long failovers = 0;
            for (int dead = 0; dead < 8; dead++) {
                failovers += run(seed, dead).of(SimCount.FAILOVERS);
            }
            assertEquals(2, failovers, "seed " + seed);
        }
    }
}
