package io.framecast.reliability.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.send.CoRootConfig;
import io.framecast.reliability.send.CoRootConfig.Feed;
import io.framecast.reliability.sim.plan.LinkSpec;
import io.framecast.reliability.sim.plan.SimOptions;
import io.framecast.reliability.sim.record.SimCount;
import io.framecast.reliability.sim.record.SimReport;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/// One-sided reads and writes are on where the transport has them, because of what these runs show
/// (docs/performance.md,
/// "What one-sided operations gain").
@Tag("campaign")
@Execution(ExecutionMode.CONCURRENT)
final class OneSidedGainTest {
    private static final int SEEDS = 4;
    private static final int RECEIVERS = 8;

    /// Means over the seeds.
    private record Row(double bytesPerNs, double repairs, double control, double wireShare) {}

    private static Row row(final double oneSided, final CoRootConfig coRoots) {
        double speed = 0;
        double repairs = 0;
        double control = 0;
        double wire = 0;
        for (long seed = 1; seed <= SEEDS; seed++) {
            final SimReport report = Simulation.run(
                    seed,
                    SimOptions.quiet(RECEIVERS, 400)
                            .withFrames(100_000, 1408, 512)
                            .withFlow(256, 2, 0)
                            .withLink(LinkSpec.lossy(0.05).withQueue(512))
                            .withCoRoots(coRoots)
                            .withoutSites()
                            .withOneSided(oneSided));
            assertEquals(List.of(), report.violations(), "seed " + seed);
            final double bytes = (double) report.of(SimCount.DELIVERED_BYTES) / RECEIVERS;
            speed += bytes / (report.timeNs() - Simulation.QUIET_BEGIN_NS) / SEEDS;
            repairs += (double) report.of(SimCount.REPAIRS) / SEEDS;
            control += (double) report.of(SimCount.TAKEN) / SEEDS;
            wire += (report.of(SimCount.WIRE_BYTES) / bytes - 1) / SEEDS;
        }
        return new Row(speed, repairs, control, wire);
    }

    @Test
    void shouldTakeRepairsAndCreditOffTheSource() {
        final Row datagrams = row(0, CoRootConfig.NONE);
        final Row reads = row(1, CoRootConfig.NONE);
        assertTrue(reads.bytesPerNs > 1.5 * datagrams.bytesPerNs, reads + " against " + datagrams);
        assertTrue(reads.repairs < 0.01 * datagrams.repairs, reads + " against " + datagrams);
        assertTrue(reads.control < 0.5 * datagrams.control, reads + " against " + datagrams);
    }

    @Test
    void shouldFeedCoRootsWithoutDatagrams() {
        final CoRootConfig unicast = new CoRootConfig(2, Feed.UNICAST);
        final Row datagrams = row(0, unicast);
        final Row writes = row(1, unicast);
        assertTrue(writes.bytesPerNs > 1.5 * datagrams.bytesPerNs, writes + " against " + datagrams);
        assertTrue(writes.wireShare < 0.5 * datagrams.wireShare, writes + " against " + datagrams);
    }
}
