package io.framecast.perf.modelbench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.framecast.api.error.ConfigException;
import io.framecast.perf.harness.Network;
import io.framecast.perf.harness.ParsedOptions;
import io.framecast.perf.models.CostModel;
import io.framecast.perf.streaming.StreamingPlan;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Predictions by numbers worked out by hand: links of 50 MB/s, of which a hop takes 1 ms to begin.
final class ModelSchemeTest {
    private static final int FRAME = 5_000_000;
    private static final int CHUNK = 500_000;
    private static final double BURST_MS = Network.BURST_BYTES / 50e3;
    private static final CostModel.Hop HOP = new CostModel.Hop(1e-3, 50e6);
    private static final CostModel.Hop COPY = new CostModel.Hop(0, 1e9);
    private static final CostModel.Multicast DATAGRAM = new CostModel.Multicast(0, 0, 40e6, 1_000);

    private static double ms(final String label, final int processes, final long linkBytesPerSecond) {
        final ModelScheme scheme = ModelScheme.ALL.stream()
                .filter(one -> one.label().equals(label))
                .findFirst()
                .orElseThrow();
        final ModelScheme.Parameters with =
                new ModelScheme.Parameters(HOP, 2e-3, DATAGRAM, COPY, COPY, linkBytesPerSecond);
        return scheme.seconds(processes, FRAME, CHUNK, with) * 1e3;
    }

    @Test
    void shouldFollowTheEquations() {
        assertEquals(2 + 125, ms("multicast", 17, 0), 1e-9);
        assertEquals(2 + 125 + 1, ms("multicast-staged", 17, 0), 1e-9);
        assertEquals(16 * 101, ms("ring", 17, 0), 1e-9);
        assertEquals((10 + 15) * 11, ms("ring-pipeline", 17, 0), 1e-9);
        assertEquals(16 * 101 + 5.5, ms("ring-staged", 17, 0), 1e-9);
        assertEquals(5 * 101, ms("knomial-2", 17, 0), 1e-9);
        assertEquals(5 * 101 + 5.5, ms("knomial-2-staged", 17, 0), 1e-9);
        assertEquals(10 * 5 * 11, ms("knomial-2-pipeline", 17, 0), 1e-9);
        assertEquals(10 * 3 * 11, ms("knomial-4-pipeline", 17, 0), 1e-9);
        assertEquals(16 * 101, ms("unicast", 17, 0), 1e-9);
    }

    @Test
    void shouldSaveABurstOnEachLinkThatWasIdle() {
        assertEquals(127 - BURST_MS, ms("multicast", 17, 50_000_000), 1e-9);
        assertEquals(16 * (101 - BURST_MS), ms("ring", 17, 50_000_000), 1e-9);
        assertEquals(5 * 101 - BURST_MS, ms("knomial-2", 17, 50_000_000), 1e-9);
        assertEquals(1.0, ModelScheme.savedSeconds(50_000, 50_000), 1e-9, "no more than the frame");
    }

    @Test
    void shouldCompareWithWhatWasMeasured() {
        final ModelRow row = new ModelRow("ring", FRAME, 3, "1", 120, List.of(90.0, 100.0, 300.0));
        assertEquals(0.2, row.error(), 1e-9);
        assertEquals(Double.NaN, new ModelRow("ring", FRAME, 3, "1", 120, List.of()).error());
    }

    @Test
    void shouldFitOverheadToFourGroupsOrMore() {
        final ConfigException refusal = assertThrows(ConfigException.class, () -> plan("--receivers", "1,2,2,3"));
        assertEquals("--receivers: expected 4 numbers or more, got 1,2,2,3", refusal.getMessage());
        assertEquals(
                List.of(1, 2, 4, 8),
                plan("--receivers", "8,4,2,1", "--net-rate", "20m").subscribers());
    }

    private static StreamingPlan plan(final String... words) {
        return ParsedOptions.of(new ModelOptions(), words).plan();
    }
}
