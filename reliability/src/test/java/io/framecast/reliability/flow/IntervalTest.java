package io.framecast.reliability.flow;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class IntervalTest {
    @Test
    void shouldBeDueAtOnceAndThenWhenItsTimeIsOver() {
        final Interval interval = new Interval(100);
        assertTrue(interval.isDue(0));
        assertTrue(interval.isDue(7));
        interval.begin(7);
        assertFalse(interval.isDue(106));
        assertTrue(interval.isDue(107));
        interval.begin(200);
        assertFalse(interval.isDue(299));
    }

    @Test
    void shouldLetAnEventPassAtOnceAndTheNextBehindTheInterval() {
        final Interval interval = new Interval(10);
        assertTrue(interval.take(0));
        assertFalse(interval.take(9));
        assertTrue(interval.take(10));
        assertFalse(interval.take(19));
        interval.begin(100);
        assertFalse(interval.take(109));
        assertTrue(interval.take(110));
    }
}
