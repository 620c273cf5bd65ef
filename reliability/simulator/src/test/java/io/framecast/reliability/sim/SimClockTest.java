package io.framecast.reliability.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.sim.net.SimClock;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class SimClockTest {
    @Test
    void shouldNameTheFirstTimeAtWhichItReadsAsMuch() {
        final SplittableRandom random = new SplittableRandom(7);
        for (int i = 0; i < 100_000; i++) {
            final int ratePpm = random.nextInt(2 * SimClock.RATE_PPM_MAX + 1) - SimClock.RATE_PPM_MAX;
            final SimClock clock =
                    new SimClock(random.nextLong(60_000_000_000L), random.nextLong(3_600_000_000_000L), ratePpm);
            final long reads = clock.readsNs() + random.nextLong(random.nextInt(3) == 0 ? 100_000 : 60_000_000_000L);
            final long trueNs = clock.trueNs(reads);
            assertTrue(clock.at(trueNs) >= reads, () -> clock + " at " + trueNs);
            assertTrue(clock.at(trueNs - 1) < reads, () -> clock + " at " + trueNs);
        }
    }

    @Test
    void shouldGainAsManyMillionthsAsItsRateSays() {
        final SimClock clock = new SimClock(1_000, 5_000_000, 200);
        assertEquals(5_000_000, clock.at(1_000));
        assertEquals(5_000_000 + 1_000_200_000L, clock.at(1_000 + 1_000_000_000L));
    }
}
