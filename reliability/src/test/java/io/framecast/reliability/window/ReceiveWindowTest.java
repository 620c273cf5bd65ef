package io.framecast.reliability.window;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class ReceiveWindowTest {
    @Test
    void shouldHoldAtLeastWhatWasAskedForWhenSlotsAreNoPowerOfTwo() {
        assertEquals(64, new ReceiveWindow(1).capacity());
        assertEquals(64, new ReceiveWindow(64).capacity());
        assertEquals(128, new ReceiveWindow(65).capacity());
        assertEquals(1 << 20, new ReceiveWindow((1 << 20) - 1).capacity());
    }

    @Test
    void shouldAdvanceOverWhatWasAheadWhenTheGapCloses() {
        final ReceiveWindow window = new ReceiveWindow(64);
        window.reset(10);
        window.receive(11);
        window.receive(12);
        assertEquals(10, window.next());
        assertEquals(1, window.missing());
        window.receive(10);
        assertEquals(13, window.next());
        assertEquals(0, window.missing());
    }

    @Test
    void shouldCountTheTailAsMissingWhenAHeartbeatTellsOfIt() {
        final ReceiveWindow window = new ReceiveWindow(64);
        window.reset(0);
        window.extend(5);
        assertEquals(5, window.missing());
        assertEquals(0, window.nextMissing(0));
        assertFalse(window.isReceived(4));
        assertTrue(window.isReceived(-1));
    }

    @Test
    void shouldGoOnBehindWhatItHasWhenSequencesAreGivenUp() {
        final ReceiveWindow window = new ReceiveWindow(64);
        window.reset(0);
        window.receive(2);
        window.receive(5);
        window.skipTo(2);
        assertEquals(3, window.next());
        assertEquals(2, window.missing());
        window.skipTo(4);
        assertEquals(4, window.next());
        window.skipTo(100);
        assertEquals(100, window.next());
        assertEquals(100, window.end());
        assertEquals(0, window.missing());
    }

    @Test
    void shouldKnowNothingWhenItIsReset() {
        final ReceiveWindow window = new ReceiveWindow(64);
        window.reset(0);
        window.receive(3);
        window.reset(0);
        window.extend(10);
        assertEquals(10, window.missing());
        assertFalse(window.isReceived(3));
    }

    @Test
    void shouldAgreeWithANaiveModelWhenSequencesArriveInAnyOrder() {
        for (long seed = 1; seed <= 100; seed++) {
            final SplittableRandom random = new SplittableRandom(seed);
            final ReceiveWindow window = new ReceiveWindow(1 + random.nextInt(300));
            final long start = random.nextLong(1L << 40);
            window.reset(start);
            final Set<Long> received = new HashSet<>();
            long next = start;
            long end = start;
            for (int step = 0; step < 2000; step++) {
                final long sequence = next + random.nextInt(window.capacity());
                if (random.nextInt(10) == 0) {
                    end = Math.max(end, sequence);
                    window.extend(sequence);
                } else if (random.nextInt(10) == 0 && end < next + window.capacity()) {
                    final int run = 1 + random.nextInt((int) (next + window.capacity() - end));
                    window.receiveAtEnd(run);
                    for (; end < window.end(); end++) {
                        received.add(end);
                    }
                    assertEquals(end, window.end(), "seed " + seed);
                } else if (random.nextInt(40) == 0) {
                    // Sometimes behind everything known.
                    final long first = sequence + (random.nextInt(4) == 0 ? window.capacity() : 0);
                    window.skipTo(first);
                    final long least = first;
                    received.removeIf(each -> each < least);
                    next = Math.max(next, first);
                    end = Math.max(end, next);
                } else if (!received.contains(sequence)) {
                    received.add(sequence);
                    end = Math.max(end, sequence + 1);
                    window.receive(sequence);
                }
                while (received.remove(next)) {
                    next++;
                }
                assertEquals(next, window.next(), "seed " + seed);
                assertEquals(end, window.end(), "seed " + seed);
                check(window, received, next + random.nextInt(window.capacity()));
            }
        }
    }

    private static void check(final ReceiveWindow window, final Set<Long> received, final long probe) {
        assertEquals(window.end() - window.next() - received.size(), window.missing());
        assertEquals(received.contains(probe), window.isReceived(probe));
        long missing = probe;
        while (missing < window.end() && received.contains(missing)) {
            missing++;
        }
        assertEquals(Math.min(window.end(), missing), window.nextMissing(probe));
        long lacking = probe;
        while (received.contains(lacking)) {
            lacking++;
        }
        assertEquals(lacking, window.nextUnreceived(probe));
        int run = 0;
        while (run < 5 && !received.contains(probe + run)) {
            run++;
        }
        assertEquals(run, window.unreceivedRun(probe, 5));
    }

    @Test
    void shouldServeManySlots() {
        final ReceiveWindow window = new ReceiveWindow(1 << 26);
        window.reset(0);
        window.receive((1 << 26) - 1);
        assertTrue(window.isReceived((1 << 26) - 1));
        assertFalse(window.isReceived((1 << 26) - 2));
        assertEquals((1 << 26) - 1, window.missing());
    }
}
