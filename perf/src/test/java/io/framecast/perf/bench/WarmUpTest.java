package io.framecast.perf.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class WarmUpTest {
    private static final long ROUND_NS = 1_500_000_000L;
    private static final BenchCase SETTING =
            new BenchCase(BenchScenario.LOSS, BenchNet.LOOPBACK, 1_000, 1, 1500, 0, true, 0);

    private final List<String> lines = new ArrayList<>();
    private long nowNs;
    private int rounds;
    private double[] compiling = new double[100];

    @Test
    void shouldEndWhenTheLastTwoRoundsAreAlike() throws Exception {
        final double seconds = run(List.of(SETTING), 100, 101, 900, 1_500, 1_450, 1);
        assertEquals(5, rounds);
        assertEquals(7.5, seconds, 1e-9);
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
        run(List.of(SETTING), 100, 100, 100, 100, 100, 100);
        assertEquals(5, rounds);
    }

    @Test
    void shouldEndWhenTheTimeIsOver() throws Exception {
        run(List.of(SETTING), 1, 2, 4, 8, 16, 32, 64, 128);
        assertEquals(6, rounds);
        assertTrue(lines.getFirst().contains("not steady after 9.0 s"), lines::toString);
    }

    @Test
    void shouldShareTheTimeAmongCases() throws Exception {
        final BenchCase lossy = new BenchCase(BenchScenario.LOSS, BenchNet.LOOPBACK, 1_000, 1, 1500, 0.01, true, 0);
        run(List.of(SETTING, lossy), 1, 2, 4, 8, 16, 32, 64, 128);
        assertEquals(6, rounds);
        assertEquals(2, lines.size());
        assertTrue(lines.getLast().contains("1 % loss"), lines::toString);
    }

    @Test
    void shouldNotTakeTwoSlowRoundsForSteady() {
        assertFalse(WarmUp.isSteady(List.of(100.0, 100.0)));
        assertTrue(WarmUp.isSteady(List.of(50.0, 100.0, 110.0)));
        assertTrue(WarmUp.isSteady(List.of(50.0, 110.0, 100.0)));
        assertFalse(WarmUp.isSteady(List.of(50.0, 100.0, 112.0)));
        assertTrue(WarmUp.isSteady(List.of(0.0, 0.0, 0.0)));
    }

    @Test
    void shouldHaveTimeForThreeRounds() {
        final BenchTimes usual = new BenchTimes(8, 0.4, 2).ofWarmUp();
        assertEquals(1, usual.leadSeconds() + usual.seconds(), 1e-9);
        final BenchTimes quick = new BenchTimes(0.6, 0.2, 0.5).ofWarmUp();
        assertEquals(0.2, quick.leadSeconds() + quick.seconds(), 1e-9);
    }

    private double run(final List<BenchCase> settings, final double... goodputs) throws Exception {
        final WarmUp warmUp = new WarmUp(new BenchTimes(8, 0.4, 2), () -> nowNs, lines::add);
        return warmUp.run("udp", settings, (_, _) -> {
            nowNs += ROUND_NS;
            return new RoundResult(
                    "udp",
                    new RoundResult.Flow(goodputs[rounds], 1, 0),
                    new RoundResult.Cpu(1, 1, 1, compiling[rounds++]),
                    RoundResult.Latency.NONE,
                    RoundResult.Wire.NONE,
                    "");
        });
    }
}
