package io.framecast.perf.streaming;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.framecast.perf.models.CostModel;
import org.junit.jupiter.api.Test;

/// The equations of Chu et al. 2019 by numbers worked out by hand.
final class CostModelTest {
    private static final double MB = 1e6;
    private static final double GBPS = 1e9;
    private static final CostModel.Hop HOP = new CostModel.Hop(10e-6, 2 * GBPS);
    private static final CostModel.Multicast DATAGRAM = new CostModel.Multicast(1e-6, 0.5e-6, 4 * GBPS, 4_000);

    @Test
    void shouldCostARingAHopPerReceiver() {
        // 7 × (10 µs + 8 MB at 2 GB/s)
        assertEquals(7 * 4010e-6, CostModel.ring(8, 8 * MB, 8 * MB, HOP), 1e-9);
        assertEquals(7 * 4010e-6 + 8e-3, CostModel.staged(8 * MB, GBPS, CostModel.ring(8, 8 * MB, 8 * MB, HOP)), 1e-9);
    }

    @Test
    void shouldOverlapTheHopsOfARingInChunks() {
        // (16 + 6) × (10 µs + 0.5 MB at 2 GB/s)
        assertEquals(22 * 260e-6, CostModel.ring(8, 8 * MB, 0.5 * MB, HOP), 1e-9);
    }

    @Test
    void shouldCostATreeItsHeight() {
        assertEquals(3 * 4010e-6, CostModel.knomial(2, 8, 8 * MB, 8 * MB, HOP), 1e-9);
        assertEquals(2 * 4010e-6, CostModel.knomial(3, 9, 8 * MB, 8 * MB, HOP), 1e-9);
        assertEquals(
                3 * 4010e-6 + 8e-3, CostModel.staged(8 * MB, GBPS, CostModel.knomial(2, 8, 8 * MB, 8 * MB, HOP)), 1e-9);
        assertEquals(16 * 3 * 260e-6, CostModel.knomial(2, 8, 8 * MB, 0.5 * MB, HOP), 1e-9);
    }

    @Test
    void shouldRoundTheHeightOfATreeUp() {
        assertEquals(0, CostModel.steps(2, 1));
        assertEquals(1, CostModel.steps(2, 2));
        assertEquals(2, CostModel.steps(2, 3));
        assertEquals(3, CostModel.steps(2, 8));
        assertEquals(4, CostModel.steps(2, 9));
        assertEquals(1, CostModel.steps(16, 16));
    }

    @Test
    void shouldCostMulticastADatagramsTimeEach() {
        // 2000 × (1 µs + 0.5 µs · ln 8 + 1 µs)
        final double expected = 2_000 * (2e-6 + 0.5e-6 * Math.log(8));
        assertEquals(expected, CostModel.multicast(8, 8 * MB, DATAGRAM), 1e-9);
        assertEquals(expected + 0.5e-3, CostModel.staged(0.5 * MB, GBPS, expected), 1e-9);
    }

    @Test
    void shouldFindTheOverheadAgain() {
        final double few = DATAGRAM.seconds(2);
        final double more = DATAGRAM.seconds(16);
        assertEquals(0.5e-6, CostModel.overheadSeconds(2, few, 16, more), 1e-12);
        assertEquals(0, CostModel.overheadSeconds(2, more, 16, few), "noise is no negative cost");
        assertEquals(0, CostModel.overheadSeconds(2, few, 2, few));
    }

    @Test
    void shouldFindTheOverlapOfSeveralSourcesAgain() {
        final double several = CostModel.severalSources(0.2, 16, 3e-3);
        assertEquals(0.8 * 16 * 3e-3, several, 1e-12);
        assertEquals(0.2, CostModel.overlap(16, 3e-3, several), 1e-12);
    }

    @Test
    void shouldFitALineThroughTwoCopies() {
        final CostModel.Hop fit = ModelParameters.fit(64_000, HOP.seconds(64_000), 4 * MB, HOP.seconds(4 * MB));
        assertEquals(HOP.setUpSeconds(), fit.setUpSeconds(), 1e-12);
        assertEquals(HOP.bandwidth(), fit.bandwidth(), 1);
        final CostModel.Hop absurd = ModelParameters.fit(64_000, 1, 4 * MB, 0.5);
        assertEquals(0, absurd.setUpSeconds());
        assertEquals(8 * MB, absurd.bandwidth(), 1);
    }

    @Test
    void shouldFitADatagramToOneReceiverAndToSeveral() {
        final CostModel.Multicast fit = ModelParameters.fitMulticast(4_000, 2e-6, 5, 3e-6);
        assertEquals(2e-6, fit.seconds(2), 1e-12);
        assertEquals(3e-6, fit.seconds(5), 1e-12);
        final CostModel.Multicast steep = ModelParameters.fitMulticast(4_000, 1e-6, 5, 5e-6);
        assertEquals(Double.POSITIVE_INFINITY, steep.bandwidth());
        assertEquals(5e-6, steep.seconds(5), 0.5e-6);
        assertEquals(
                4_000 / 2e-6, ModelParameters.fitMulticast(4_000, 2e-6, 2, 2e-6).bandwidth(), 1);
    }

    @Test
    void shouldLayALineThroughPoints() {
        final CostModel.Line line = CostModel.Line.through(new double[] {0, 1, 2, 3}, new double[] {1, 0, 3, 2});
        assertEquals(0.6, line.at0(), 1e-9);
        assertEquals(0.6, line.slope(), 1e-9);
    }
}
