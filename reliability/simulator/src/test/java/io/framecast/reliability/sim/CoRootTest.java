package io.framecast.reliability.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.send.CoRootConfig;
import io.framecast.reliability.send.CoRootConfig.Feed;
import io.framecast.reliability.sim.plan.LinkSpec;
import io.framecast.reliability.sim.plan.SimOptions;
import io.framecast.reliability.sim.plan.Swarm;
import io.framecast.reliability.sim.record.SimCount;
import io.framecast.reliability.sim.record.SimReport;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

@Execution(ExecutionMode.CONCURRENT)
final class CoRootTest {
    private static SimReport run(final long seed, final int receivers, final int coRoots) {
        return run(seed, receivers, 100, options(receivers, 100, coRoots));
    }

    private static SimOptions options(final int receivers, final int frames, final int coRoots) {
        return SimOptions.quiet(receivers, frames)
                .withFrames(100_000, 1408, 4096)
                .withFlow(2048, 2, 0)
                .withLink(LinkSpec.lossy(0.005).withQueue(4096))
                .withCoRoots(new CoRootConfig(coRoots, Feed.MULTICAST));
    }

    private static SimReport run(final long seed, final int receivers, final int frames, final SimOptions options) {
        final SimReport report = Simulation.run(seed, options);
        assertEquals(List.of(), report.violations());
        assertEquals((long) frames * receivers, report.of(SimCount.FRAMES));
        return report;
    }

    private static double perDatagram(final SimReport report) {
        return (double) (report.of(SimCount.TAKEN) + report.of(SimCount.ANNOUNCED)) / report.of(SimCount.SENT);
    }

    /// Subramoni (InfiniBand multicast collectives): "Hot spot is created at root due to large number of ACK's
    /// that reach it."
    @Tag("campaign")
    @ResourceLock("large simulation")
    @Test
    void shouldTakeFewControlDatagramsHoweverManyReceiversWhenCoRootsHelp() {
        final double alone = perDatagram(run(1, 64, 0));
        final double helped = perDatagram(run(1, 64, 8));
        assertTrue(helped < alone / 6, alone + " alone, " + helped + " with co-roots");
        final double few = perDatagram(run(1, 16, 8));
        assertTrue(helped < 2 * few, few + " for 16 receivers, " + helped + " for 64");
    }

    /// Payloads land in the memory of GPUs, and co-roots have what the source writes into their replicas.
    @Tag("campaign")
    @ResourceLock("large simulation")
    @Test
    void shouldTakeFewControlDatagramsFromManyThatLandInDeviceMemory() {
        final SimOptions options = options(64, 100, 8).withOneSided(1).withDirect(1);
        final SimReport report = run(1, 64, 100, options);
        assertTrue(perDatagram(report) < 0.05, () -> perDatagram(report) + " control datagrams for each of data");
        assertTrue(report.of(SimCount.WRITTEN) > 4 * report.of(SimCount.SENT), report::toString);
        // Members read what they lack out of a co-root's replica.
        assertTrue(report.of(SimCount.SET_PULLS) > 3 * report.of(SimCount.PULLS), report::toString);
    }

    @Test
    void shouldRepairMostFromCoRootsWhenTheyServe() {
        serve(20);
    }

    @Tag("campaign")
    @Test
    void shouldRepairMostFromCoRootsWhenTheyServeLonger() {
        serve(100);
    }

    private static void serve(final int frames) {
        final SimReport report = run(2, 32, frames, options(32, frames, 4));
        assertTrue(report.of(SimCount.SET_REPAIRS) > 3 * report.of(SimCount.REPAIRS) / 4, report::toString);
        assertTrue(report.of(SimCount.AGGREGATES) > 0);
        assertEquals(0, report.of(SimCount.FAILOVERS));
    }

    @Tag("campaign")
    @Test
    void shouldKeepEveryPromiseWhenCoRootsCrash() {
        long failovers = 0;
        for (long seed = 1; seed <= 150; seed++) {
            final SimReport report = Simulation.run(seed, Swarm.of(12, 0.03).withCrashes());
            assertEquals(List.of(), report.violations(), () -> "seed " + report.seed());
            failovers += report.of(SimCount.FAILOVERS);
        }
        assertTrue(failovers > 50, failovers + " failovers");
    }

    @Test
    void shouldKeepEveryPromiseWhenCoRootsComeAndGo() {
        comeAndGo(40);
    }

    @Tag("campaign")
    @Test
    void shouldKeepEveryPromiseWhenCoRootsComeAndGoInManyRuns() {
        comeAndGo(150);
    }

    private static void comeAndGo(final long seeds) {
        long failovers = 0;
        long aggregates = 0;
        for (long seed = 1; seed <= seeds; seed++) {
            final SimReport report = Simulation.run(seed, Swarm.of(12, 0.03));
            assertEquals(List.of(), report.violations(), () -> "seed " + report.seed());
            failovers += report.of(SimCount.FAILOVERS);
            aggregates += report.of(SimCount.AGGREGATES);
        }
        assertTrue(failovers > seeds / 15, failovers + " failovers");
        assertTrue(aggregates > 6 * seeds, aggregates + " aggregates");
    }
}
