package io.framecast.samples.subscribe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LatenciesTest {
    @Test
    void shouldGivePercentilesOnBothSidesOfZero() {
        final Random random = new Random(7);
        final Latencies latencies = new Latencies();
        final List<Long> all = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            final long ns = random.nextLong(-3_000_000, 7_000_000);
            all.add(ns);
            latencies.record(ns);
        }
        all.sort(null);
        assertTrue(latencies.hasNegative());
        for (final double percent : new double[] {1, 10, 29, 31, 50, 99, 100}) {
            final long expected = all.get((int) Math.ceil(all.size() * percent / 100) - 1);
            final long apartNs = Math.abs(expected - latencies.percentileNs(percent));
            assertTrue(500 * apartNs <= Math.abs(expected), "at " + percent + ": " + apartNs);
        }
    }

    @Test
    void shouldHoldNegativeOnesAlone() {
        final Latencies latencies = new Latencies();
        latencies.record(-500);
        latencies.record(-100);
        assertEquals(-500, latencies.percentileNs(50));
        assertEquals(-100, latencies.percentileNs(100));
    }

    @Test
    void shouldSayZeroWithoutAny() {
        assertEquals(0, new Latencies().percentileNs(50));
        assertFalse(new Latencies().hasNegative());
    }

    @Test
    void shouldCorrectTheFirstOnesOnceTheOffsetIsKnown() {
        final Latencies latencies = new Latencies();
        latencies.record(-1_999_000);
        latencies.record(-1_998_000);
        latencies.record(-1_997_000, 2_000_000);
        assertFalse(latencies.hasNegative());
        assertTrue(Math.abs(1_000 - latencies.percentileNs(1)) <= 1);
        assertTrue(Math.abs(3_000 - latencies.percentileNs(100)) <= 2);
    }
}
