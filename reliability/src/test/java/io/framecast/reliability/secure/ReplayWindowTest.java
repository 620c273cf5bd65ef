package io.framecast.reliability.secure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/// The window of counters at its edges.
final class ReplayWindowTest {
    private static boolean take(final ReplayWindow window, final long counter) {
        if (!window.isNew(counter)) {
            return false;
        }
        window.accept(counter);
        return true;
    }

    @Test
    void shouldTakeEachCounterOnce() {
        final ReplayWindow window = new ReplayWindow();
        for (long i = 1; i < 5000; i++) {
            assertTrue(take(window, i));
            assertFalse(take(window, i));
        }
    }

    @Test
    void shouldTakeNoCounterBelowOne() {
        final ReplayWindow window = new ReplayWindow();
        assertFalse(window.isNew(0));
        assertFalse(window.isNew(-1));
        assertFalse(window.isNew(Long.MIN_VALUE));
    }

    @Test
    void shouldTakeTheOldestOfTheWindowAndNoneBelow() {
        final ReplayWindow window = new ReplayWindow();
        assertTrue(take(window, 5000));
        assertTrue(take(window, 5000 - ReplayWindow.COUNTERS + 1));
        assertFalse(take(window, 5000 - ReplayWindow.COUNTERS));
        assertTrue(take(window, 5001));
        assertFalse(take(window, 5001 - ReplayWindow.COUNTERS + 1 - 1));
        assertTrue(take(window, 5001 - ReplayWindow.COUNTERS + 1));
    }

    @Test
    void shouldForgetCountersThatShareTheirPlace() {
        final ReplayWindow window = new ReplayWindow();
        assertTrue(take(window, 1));
        assertTrue(take(window, 1 + ReplayWindow.COUNTERS), "one turn");
        assertTrue(take(window, 1 + 10L * ReplayWindow.COUNTERS), "ten turns");
        assertTrue(take(window, 2 + 9L * ReplayWindow.COUNTERS), "the oldest, that nothing has set");
    }

    @Test
    void shouldChangeNothingWhenItIsAsked() {
        final ReplayWindow window = new ReplayWindow();
        assertTrue(window.isNew(1L << 40));
        assertTrue(take(window, 1), "a forged counter moves nothing");
    }

    @Test
    void shouldReachTheLargestCounter() {
        final ReplayWindow window = new ReplayWindow();
        assertTrue(take(window, Long.MAX_VALUE));
        assertFalse(take(window, Long.MAX_VALUE));
        assertTrue(take(window, Long.MAX_VALUE - 1));
        assertFalse(take(window, 1));
    }

    @Test
    void shouldAgreeWithASetUnderReordering() {
        final SplittableRandom random = new SplittableRandom(3);
        final ReplayWindow window = new ReplayWindow();
        final Set<Long> taken = new HashSet<>();
        long highest = 0;
        for (int i = 0; i < 200_000; i++) {
            final long counter = Math.max(1, i / 2 + random.nextLong(-1500, 1500));
            final boolean isExpected = counter > highest - ReplayWindow.COUNTERS && !taken.contains(counter);
            assertEquals(isExpected, take(window, counter), () -> "counter " + counter);
            if (isExpected) {
                taken.add(counter);
                highest = Math.max(highest, counter);
            }
        }
    }
}
