package io.framecast.reliability.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.sim.plan.LinkSpec;
import io.framecast.reliability.sim.plan.SimOptions;
import io.framecast.reliability.sim.record.SimReport;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// In virtual time, so no clock of this machine decides: a repair comes at most two round trips and 100 µs after
/// the original reached all other receivers, 99 times of 100.
/// Sixty-four receivers with their memory take a gigabyte: one case after the other, beside other tests.
@Tag("campaign")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock("large simulation")
final class RepairTailTest {
    @ParameterizedTest
    @CsvSource({
        // round trip in ns, receivers, frame bytes, frames: enough that a hundredth is not one NACK that
        // was lost
        "20000, 64, 1408, 10000",
        "1000000, 64, 1408, 10000",
        "100000, 64, 1000000, 25",
        "5000000, 64, 1000000, 25",
        "100000, 8, 1408, 80000",
    })
    void shouldRepairWithinTwoRoundTrips(
            final long rttNs, final int receivers, final long frameBytes, final int frames) {
        final LinkSpec link = new LinkSpec(0.001, 0, 0, 0, 0, 0, rttNs / 2, LinkSpec.CLEAN.jitterNs(), 16_384);
        final SimOptions busy = SimOptions.quiet(receivers, frames)
                .withFrames(frameBytes, 1408, 4096)
                .withFlow(4096, 2, 0)
                .withLink(link);
        final SimOptions options = Variants.loaded(busy, 0.3);
        final SimReport report = Simulation.run(1, options);
        assertEquals(List.of(), report.violations());
        assertTrue(report.gaps().count() >= 500, () -> "" + report.gaps());
        assertTrue(report.gaps().p99Ns() <= 2 * rttNs + 100_000, () -> "" + report.gaps());
        assertTrue(report.tails().p99Ns() <= 3 * rttNs + 2_000_000, () -> "" + report.tails());
    }
}
