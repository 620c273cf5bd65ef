package io.framecast.reliability.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.sim.plan.LinkSpec;
import io.framecast.reliability.sim.plan.SimOptions;
import io.framecast.reliability.sim.record.SimCount;
import io.framecast.reliability.sim.record.SimReport;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Receivers that their source does not wait for, or evicts. The simulator's checker demands that each of their
/// frames is delivered or dropped, once, in order, by its number.
@Execution(ExecutionMode.CONCURRENT)
final class DeliveryTest {
    private static final int SEEDS = 60;
    private static final long STOPPED_NS = 2_000_000_000;

    private static SimOptions options(final double fifo) {
        return SimOptions.quiet(4, 200)
                .withFrames(20_000, 1408, 64)
                .withFlow(64, 2, fifo)
                .withLink(LinkSpec.lossy(0.001).withQueue(256));
    }

    @Tag("campaign")
    @ParameterizedTest
    @ValueSource(doubles = {0, 1})
    void shouldNotHoldOthersUpWhenAReceiverStopsThatIsNotWaitedFor(final double fifo) {
        int compared = 0;
        long quickNs = 0;
        long stoppedNs = 0;
        for (long seed = 1; seed <= SEEDS; seed++) {
            final SimReport quick = clean(seed, Variants.impatient(options(fifo), 0.5, 0));
            final SimReport stopped = clean(seed, Variants.impatient(options(fifo), 0.5, STOPPED_NS));
            // The run has no eviction, has a receiver that drops frames, and has one that must not notice.
            if (stopped.of(SimCount.EVICTIONS) == 0 && stopped.of(SimCount.GIVEN_UP) > 0 && stopped.reliableNs() > 0) {
                compared++;
                quickNs += quick.reliableNs() - Simulation.QUIET_BEGIN_NS;
                stoppedNs += stopped.reliableNs() - Simulation.QUIET_BEGIN_NS;
            }
        }
        final double goodput = (double) quickNs / stoppedNs;
        assertTrue(compared > 10 && goodput > 0.95, goodput + " of the undisturbed goodput in " + compared + " runs");
    }

    @Test
    void shouldEvictWithinItsPatienceWhenAReceiverHoldsTheSourceBack() {
        evict(SEEDS / 3);
    }

    @Tag("campaign")
    @Test
    void shouldEvictWithinItsPatienceWhenAReceiverHoldsTheSourceBackInManyRuns() {
        evict(SEEDS);
    }

    private static void evict(final long seeds) {
        int evicted = 0;
        for (long seed = 1; seed <= seeds; seed++) {
            final SimReport report = clean(seed, Variants.impatient(options(0), 0.25, STOPPED_NS));
            if (report.of(SimCount.EVICTIONS) > 0 && report.reliableNs() > 0) {
                evicted++;
                // 60 ms of patience each at most, and 40 ms until the next check.
                final long most = Simulation.QUIET_BEGIN_NS + 100_000_000 + 4 * 100_000_000L;
                assertTrue(report.reliableNs() < most, "seed " + seed + ": " + report.reliableNs());
            }
        }
        assertTrue(evicted > seeds / 12, evicted + " runs with evictions");
    }

    private static SimReport clean(final long seed, final SimOptions options) {
        final SimReport report = Simulation.run(seed, options);
        assertEquals(List.of(), report.violations(), () -> "seed " + seed);
        return report;
    }
}
