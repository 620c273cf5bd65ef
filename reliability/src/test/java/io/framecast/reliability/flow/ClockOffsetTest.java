package io.framecast.reliability.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class ClockOffsetTest {
    private static final long SECOND_NS = 1_000_000_000;
    private static final long OWN_NS = 50 * SECOND_NS;

    private final ClockOffset clock = new ClockOffset(OWN_NS);

    /// An exchange whose ways take that long, with a source that is ahead of this host.
    private void exchange(final long nowNs, final long thereNs, final long backNs, final long aheadNs) {
        clock.onData(nowNs);
        final long t1 = clock.ask(nowNs);
        assertEquals(nowNs + OWN_NS, t1);
        final long t2 = t1 + thereNs + aheadNs;
        clock.onAnswer(t1, t2, t2 + 7, nowNs + thereNs + 7 + backNs);
    }

    @Test
    void shouldBoundTheOffsetWhateverTheTwoWaysTake() {
        final SplittableRandom random = new SplittableRandom(3);
        for (int i = 0; i < 1_000; i++) {
            final ClockOffset fresh = new ClockOffset(0);
            final long ahead = random.nextLong(-2 * SECOND_NS, 2 * SECOND_NS);
            final long there = random.nextLong(1_000_000);
            final long back = random.nextLong(1_000_000);
            final long t1 = fresh.ask(i);
            final long now = i + there + back;
            fresh.onAnswer(t1, t1 + there + ahead, t1 + there + ahead, now);
            assertTrue(Math.abs(fresh.offsetNs() - ahead) <= fresh.boundNs(now));
            assertTrue(fresh.boundNs(now) <= (there + back) / 2 + 1);
        }
    }

    @Test
    void shouldKeepTheBetterOfTwoExchangesUntilTheClocksMayHaveDrifted() {
        assertEquals(ClockOffset.UNKNOWN, clock.boundNs(0));
        exchange(SECOND_NS, 10_000, 10_000, 500);
        assertEquals(500, clock.offsetNs());
        // 100 µs of drift are possible within a second.
        exchange(2 * SECOND_NS, 400_000, 0, 500);
        assertEquals(500, clock.offsetNs());
        assertEquals(SECOND_NS + 20_007, clock.measuredNs());
        exchange(12 * SECOND_NS, 400_000, 0, 500);
        assertEquals(200_500, clock.offsetNs());
        assertTrue(clock.boundNs(13 * SECOND_NS) > clock.boundNs(12 * SECOND_NS + 400_007));
    }

    @Test
    void shouldIgnoreAnswersThatNobodyAskedForAndImpossibleOnes() {
        clock.onAnswer(0, 0, 0, 0);
        final long t1 = clock.ask(SECOND_NS);
        clock.onAnswer(t1 + 1, t1, t1, SECOND_NS + 10);
        clock.onAnswer(t1, t1 + 5, t1, SECOND_NS + 10);
        // The source held the question for longer than the answer took.
        clock.onAnswer(t1, t1, t1 + 100, SECOND_NS + 10);
        clock.onAnswer(t1, Long.MIN_VALUE, Long.MAX_VALUE, SECOND_NS + 10);
        assertEquals(ClockOffset.UNKNOWN, clock.boundNs(SECOND_NS + 10));
        clock.onAnswer(t1, t1, t1, SECOND_NS + 10);
        final long bound = clock.boundNs(SECOND_NS + 10);
        assertEquals(6, bound);
        clock.onAnswer(t1, t1 + 1_000, t1 + 1_000, SECOND_NS + 11);
        assertEquals(-5, clock.offsetNs());
    }

    @Test
    void shouldAskOftenAtFirstThenEachSecondAndNeverWhileNothingComes() {
        assertEquals(Long.MAX_VALUE, clock.dueNs());
        long now = SECOND_NS;
        for (int i = 0; i < 8; i++) {
            clock.onData(now);
            assertEquals(now, clock.dueNs());
            clock.ask(now);
            assertEquals(Long.MAX_VALUE, clock.dueNs());
            now += 20_000_000;
        }
        clock.onData(now);
        assertEquals(now - 20_000_000 + SECOND_NS, clock.dueNs());
        clock.ask(now + SECOND_NS);
        // Nothing came for an hour.
        clock.onData(now + 3_600 * SECOND_NS);
        assertEquals(now + 3_600 * SECOND_NS, clock.dueNs());
    }
}
