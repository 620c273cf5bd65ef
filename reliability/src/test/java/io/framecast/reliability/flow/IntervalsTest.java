package io.framecast.reliability.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/// [Deadline], [PublishInterval], [StrayWatch] and [ClockReadings] by the times that they are given.
final class IntervalsTest {
    private static final long MS = 1_000_000;
    private static final long SECOND_NS = 1_000 * MS;

    @Test
    void shouldEndAWaitWhereverTheClockBegins() {
        for (final long startNs : new long[] {0, -50, Long.MAX_VALUE - 5, Long.MIN_VALUE}) {
            final Deadline end = new Deadline(startNs, 100);
            assertEquals(100, end.leftNs(startNs));
            assertEquals(1, end.leftNs(startNs + 99));
            assertFalse(end.isOver(startNs + 99));
            assertTrue(end.isOver(startNs + 100));
        }
    }

    @Test
    void shouldNeverEndAWaitWithoutAnEnd() {
        for (final long nowNs : new long[] {0, Long.MIN_VALUE, -1, Long.MAX_VALUE}) {
            assertFalse(Deadline.NEVER.isOver(nowNs));
            assertEquals(Long.MAX_VALUE, Deadline.NEVER.leftNs(nowNs));
        }
    }

    @Test
    void shouldPublishEveryTenMillisecondsWhileBusy() {
        final PublishInterval interval = new PublishInterval();
        int published = 0;
        for (long nowNs = 0; nowNs <= 1_000 * MS; nowNs += MS) {
            published += interval.onCycle(1, nowNs) ? 1 : 0;
        }
        assertEquals(101, published);
    }

    @Test
    void shouldPublishEverRarerWhileIdle() {
        final PublishInterval interval = new PublishInterval();
        int published = 0;
        for (long nowNs = 0; nowNs < 10 * SECOND_NS; nowNs += MS) {
            published += interval.onCycle(0, nowNs) ? 1 : 0;
        }
        // After 0, 20, 60, 140, 300 and 620 ms, then every 320 ms.
        assertEquals(6 + 29, published);
    }

    @Test
    void shouldPublishSoonWhenAnIdleSessionBecomesBusy() {
        final PublishInterval interval = new PublishInterval();
        for (long nowNs = 0; nowNs <= 620 * MS; nowNs += MS) {
            interval.onCycle(0, nowNs);
        }
        boolean published = false;
        long nowNs = 620 * MS;
        while (!published) {
            nowNs += MS;
            published = interval.onCycle(1, nowNs);
        }
        assertEquals(630 * MS, nowNs);
    }

    @Test
    void shouldWarnOfManyStraysForTwoSecondsAndOnceAMinute() {
        final StrayWatch watch = new StrayWatch();
        assertEquals(0, watch.look(() -> 1_000, 0));
        assertEquals(0, watch.look(() -> 1_000, SECOND_NS));
        assertEquals(0, watch.look(() -> 1_010, 2 * SECOND_NS));
        assertEquals(0, watch.look(() -> 1_100, 3 * SECOND_NS));
        assertEquals(100, watch.look(() -> 1_200, 4 * SECOND_NS));
        assertEquals(0, watch.look(() -> 2_000, 5 * SECOND_NS));
        assertEquals(0, watch.look(() -> 20_000, 63 * SECOND_NS));
        assertEquals(180_000, watch.look(() -> 200_000, 64 * SECOND_NS));
    }

    @Test
    void shouldTakeTheNarrowestReadingOfAClock() {
        final ClockReadings readings = new ClockReadings();
        readings.add(100, 5_150, 300);
        readings.add(400, 5_410, 420);
        readings.add(500, 9_000, 600);
        assertEquals(5_000, readings.offsetNs());
        assertEquals(11, readings.errorNs());
    }
}
