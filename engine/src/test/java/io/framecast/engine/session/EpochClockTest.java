package io.framecast.engine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class EpochClockTest {
    /// The clock that stamps frames, and that the source announces.
    @Test
    void shouldBeOneForAProcess() {
        final EpochClock clock = EpochClock.ofProcess();
        assertSame(clock, EpochClock.ofProcess());
        final long awayNs = TimeUnit.SECONDS.toNanos(Instant.now().getEpochSecond()) - clock.epochNs();
        // A test's machine may set its clock, but not by a day.
        assertTrue(Math.abs(awayNs) < TimeUnit.DAYS.toNanos(1), () -> awayNs + " ns away");
        assertTrue(clock.errorNs() > 0);
    }

    @Test
    void shouldAgreeWithProcessesOfOtherTimeNamespaces() {
        final String offsets = """
                monotonic        3600      -500
                boottime            7         0
                """;
        assertEquals(TimeUnit.HOURS.toNanos(1) - 500, EpochClock.namespaceNs(offsets));
        assertEquals(0, EpochClock.namespaceNs("monotonic           0         0\n"));
        assertEquals(0, EpochClock.namespaceNs(""));
        final long differenceNs =
                EpochClock.ofProcess().hostOffsetNs() - EpochClock.ofProcess().offsetNs();
        final long beforeNs = System.nanoTime();
        final long hostNs = EpochClock.hostNs() + differenceNs;
        assertTrue(beforeNs <= hostNs && hostNs <= System.nanoTime());
    }
}
