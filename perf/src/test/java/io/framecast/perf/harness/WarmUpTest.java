package io.framecast.perf.harness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class WarmUpTest {
    private static final long ROUND_NS = 1_500_000_000L;
    private final List<String> lines = new ArrayList<>();
    private long nowNs;
    private int rounds;
    private double[] compiling = new double[100];

    @Test
    void shouldEndWhenTheLastTwoRoundsAreAlike() throws Exception {
        run(100, 101, 900, 1_500, 1_450, 1);
        assertEquals(5, rounds);
        assertEquals(1, lines.size());
        assertTrue(
                lines.getFirst()
                        .endsWith(
                                "udp: steady after 7.5 s (100, 101, 900, 1500, 1450 MB/s; at last 0 % of the time compiled)"),
                lines::toString);
    }

    @Test
    void shouldNotEndWhileMuchIsCompiled() throws Exception {
        compiling = new double[] {0.5, 0.3, 0.2, 0.06, 0.05};
        run(100, 100, 100, 100, 100, 100);
        assertEquals(5, rounds);
    }

    @Test
    void shouldEndWhenTheTimeIsOver() throws Exception {
        run(1, 2, 4, 8, 16, 32, 64, 128);
        assertEquals(6, rounds);
        assertTrue(lines.getFirst().contains("not steady after 9.0 s"), lines::toString);
    }

    @Test
    void shouldNotTakeTwoSlowRoundsForSteady() {
        assertFalse(WarmUp.isSteady(List.of(100.0, 100.0)));
        assertTrue(WarmUp.isSteady(List.of(50.0, 100.0, 110.0)));
        assertTrue(WarmUp.isSteady(List.of(50.0, 110.0, 100.0)));
        assertFalse(WarmUp.isSteady(List.of(50.0, 100.0, 112.0)));
        assertTrue(WarmUp.isSteady(List.of(0.0, 0.0, 0.0)));
    }

    private void run(final double... goodputs) throws Exception {
        new WarmUp(() -> nowNs, lines::add).run("udp", 8_000_000_000L, () -> {
            nowNs += ROUND_NS;
            return new WarmUp.Round(goodputs[rounds], compiling[rounds++]);
        });
    }
}
