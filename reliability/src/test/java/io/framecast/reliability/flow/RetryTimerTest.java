package io.framecast.reliability.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

final class RetryTimerTest {
    private final RetryTimer retry = new RetryTimer(20, 100, 4);

    @Test
    void shouldDoubleItsIntervalsUpToTheLongest() {
        assertFalse(retry.isDue(Long.MAX_VALUE - 1));
        retry.begin(5);
        assertTrue(retry.isDue(5) && !retry.isDue(4));
        final long[] intervals = {20, 40, 80, 100};
        long nowNs = 5;
        for (final long interval : intervals) {
            assertFalse(retry.isExhausted());
            retry.onAttempt(nowNs);
            assertEquals(nowNs + interval, retry.dueNs());
            nowNs += interval;
        }
        assertTrue(retry.isExhausted());
    }

    @Test
    void shouldBeginAnew() {
        retry.begin(0);
        for (int i = 0; i < 4; i++) {
            retry.onAttempt(i);
        }
        retry.reset();
        assertFalse(retry.isExhausted());
        retry.onAttempt(10);
        assertEquals(30, retry.dueNs());
        retry.stop();
        assertEquals(RetryTimer.NEVER, retry.dueNs());
    }

    @Test
    void shouldNotOverflowAfterManyAttempts() {
        final RetryTimer patient = new RetryTimer(20_000_000, 320_000_000, 190);
        patient.begin(0);
        for (int i = 0; i < 190; i++) {
            patient.onAttempt(0);
            assertTrue(patient.dueNs() > 0 && patient.dueNs() <= 320_000_000, "attempt " + i);
        }
    }
}
