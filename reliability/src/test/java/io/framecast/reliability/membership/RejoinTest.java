package io.framecast.reliability.membership;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class RejoinTest {
    private static final long MS = 1_000_000;
    private static final long NEVER = Long.MAX_VALUE;

    @Test
    void shouldWaitForTheOnlySourceUntilItsTimeIsOver() {
        final Rejoin rejoin = new Rejoin(100, true);
        assertFalse(rejoin.onJoined(5));
        assertEquals(NEVER, rejoin.deadlineNs());
        rejoin.onLost(5, 17, MS);
        assertFalse(rejoin.endsWithSource());
        assertEquals(101 * MS, rejoin.deadlineNs());
        assertEquals(17, rejoin.nextFrameId(5));
        assertFalse(rejoin.isOver(5, 101 * MS - 1));
        assertTrue(rejoin.isOver(5, 101 * MS));
    }

    @Test
    void shouldCountAnySourceThatComesInTimeAsTheReturnOfTheOnlyOne() {
        final Rejoin rejoin = new Rejoin(100, true);
        rejoin.onJoined(5);
        rejoin.onLost(5, 17, 0);
        assertTrue(rejoin.onJoined(6));
        assertEquals(1, rejoin.count());
        assertEquals(NEVER, rejoin.deadlineNs());
    }

    @Test
    void shouldKnowEachOfSeveralSourcesBySession() {
        final Rejoin rejoin = new Rejoin(100, false);
        rejoin.onJoined(5);
        rejoin.onLost(5, 17, 0);
        assertEquals(NEVER, rejoin.deadlineNs(), "other sources go on");
        assertFalse(rejoin.onJoined(6));
        assertTrue(rejoin.onJoined(5));
        assertEquals(1, rejoin.count());
    }

    @Test
    void shouldMoveDeadlinesWhenThisProcessStoodStill() {
        final Rejoin rejoin = new Rejoin(100, true);
        rejoin.onStandstill(MS);
        assertEquals(NEVER, rejoin.deadlineNs());
        rejoin.onLost(5, 17, 0);
        rejoin.onStandstill(50 * MS);
        assertEquals(150 * MS, rejoin.deadlineNs());
        assertFalse(rejoin.isOver(5, 149 * MS));
    }

    @Test
    void shouldEndWithTheOnlySourceWhenNoneIsWaitedFor() {
        final Rejoin rejoin = new Rejoin(0, true);
        rejoin.onLost(5, 17, 0);
        assertTrue(rejoin.endsWithSource());
        assertTrue(rejoin.isOver(5, 0));
        assertFalse(new Rejoin(0, false).endsWithSource());
    }
}
