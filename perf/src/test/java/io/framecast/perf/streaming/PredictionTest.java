package io.framecast.perf.streaming;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.perf.harness.BenchNet;
import io.framecast.perf.harness.Links;
import io.framecast.perf.models.CostModel;
import java.util.List;
import org.junit.jupiter.api.Test;

final class PredictionTest {
    private static final double GB = 1e9;
    private static final int FRAME_BYTES = 8_000_000;
    private static final int CHUNK_BYTES = 500_000;
    private static final ModelParameters PARAMETERS = new ModelParameters(
            "emulated:0",
            new CostModel.Hop(0, GB),
            new CostModel.Hop(0, GB),
            new CostModel.Hop(0, 2 * GB),
            new CostModel.Multicast(0, 0, 4 * GB, 1_000));

    private static StreamingPlan plan(final long background) {
        return new StreamingPlan(
                List.of(),
                List.of(4),
                List.of(),
                List.of(Impairment.NONE),
                background,
                FRAME_BYTES,
                "auto",
                new Links(BenchNet.LOOPBACK, 1500, 0),
                "127.0.0.1",
                CHUNK_BYTES,
                List.of("emulated:0"),
                true,
                0,
                4,
                new StreamingPlan.Times(1, 1, 1, 1, 1));
    }

    private static Prediction of(final String scheme, final Direction direction, final long background) {
        return of(scheme, direction, background, Scheme.STAGED);
    }

    private static Prediction of(
            final String scheme, final Direction direction, final long background, final String placement) {
        final StreamingRow row = new StreamingRow(
                new Contender(scheme, placement, scheme.equals(Scheme.KNOMIAL) ? 2 : 0, "tcp"),
                new StreamingCase(4, direction),
                plan(background),
                List.of(),
                null,
                null);
        return Prediction.of(row, PARAMETERS);
    }

    @Test
    void shouldLetTheSlowestPartDecide() {
        // Copies: 1 GB/s; a binomial tree of five sends everything three times.
        assertEquals(1_000, of(Scheme.FRAMECAST, Direction.NONE, 0).MBps(), 1e-6);
        assertEquals(1_000, of(Scheme.RING, Direction.NONE, 0).MBps(), 1e-6);
        assertEquals(2_000.0 / 3, of(Scheme.KNOMIAL, Direction.NONE, 0).MBps(), 1e-6);
    }

    @Test
    void shouldLeaveFramesTheRestOfTheLink() {
        assertEquals(700, of(Scheme.FRAMECAST, Direction.H2D, 300_000_000).MBps(), 1e-6);
        assertEquals(500, of(Scheme.FRAMECAST, Direction.H2D, 0).MBps(), 1e-6);
        assertEquals(500, of(Scheme.FRAMECAST, Direction.H2D, 2_000_000_000).MBps(), 1e-6);
        // Frames leave the source's device to the host, and come into the receivers' from it.
        assertEquals(700, of(Scheme.FRAMECAST, Direction.D2H, 300_000_000).MBps(), 1e-6);
        assertEquals(1_000, of(Scheme.FRAMECAST, Direction.PAPER, 300_000_000).MBps(), 1e-6);
    }

    @Test
    void shouldAddWhatAFrameAloneWaitsFor() {
        // The first chunk from the device, then arrival at the pace of copies, then the last chunk.
        assertEquals(500 + 8_000 + 500, of(Scheme.FRAMECAST, Direction.NONE, 0).latencyUs(), 1e-3);
        assertEquals(500 + 8_000 + 500, of(Scheme.RING, Direction.NONE, 0).latencyUs(), 1e-3);
        assertTrue(of(Scheme.KNOMIAL, Direction.NONE, 0).latencyUs()
                > of(Scheme.RING, Direction.NONE, 0).latencyUs());
        assertEquals("7", of(Scheme.FRAMECAST, Direction.NONE, 0).equation());
        assertEquals("2", of(Scheme.RING, Direction.NONE, 0).equation());
    }

    @Test
    void shouldLeaveOutTheCopiesThatAPlacementDoesNotMake() {
        // The network writes into the GPU: copies to it in the background take nothing from frames.
        final Prediction direct = of(Scheme.FRAMECAST, Direction.H2D, 0, "direct");
        assertEquals(1_000, direct.MBps(), 1e-6);
        assertEquals(500 + 8_000, direct.latencyUs(), 1e-3);
        // The CPU stores over the same link as copies take.
        final Prediction fastcopy = of(Scheme.FRAMECAST, Direction.H2D, 300_000_000, "fastcopy");
        assertEquals(700, fastcopy.MBps(), 1e-6);
        assertNotNull(of(Scheme.FRAMECAST, Direction.NONE, 0, "host"));
        assertNull(of(Scheme.FRAMECAST, Direction.NONE, 0, "loopback"));
    }
}
