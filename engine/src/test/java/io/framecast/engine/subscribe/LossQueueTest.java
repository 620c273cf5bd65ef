package io.framecast.engine.subscribe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.LossHandler;
import io.framecast.api.LossReason;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class LossQueueTest {
    private final LossQueue queue = new LossQueue();
    private final List<String> reported = new ArrayList<>();

    private void reportBefore(final long frameId) {
        queue.tell(
                queue.offered(), frameId, (first, count, reason) -> reported.add(first + "+" + count + " " + reason));
    }

    @Test
    void shouldTellNeighboursOfOneReasonTogether() {
        queue.add(4, 1, LossReason.EXPIRED);
        queue.add(5, 2, LossReason.EXPIRED);
        assertTrue(queue.isEmpty(), "gathered");
        assertFalse(queue.isFlushed());
        queue.add(7, 3, LossReason.UNREPAIRABLE);
        assertFalse(queue.isEmpty());
        assertTrue(queue.flush());
        assertTrue(queue.isFlushed());
        reportBefore(Long.MAX_VALUE);
        assertEquals(List.of("4+3 EXPIRED", "7+3 UNREPAIRABLE"), reported);
        assertTrue(queue.isEmpty());
    }

    @Test
    void shouldTellOnlyWhatComesBeforeAFrame() {
        queue.offer(4, 1, LossReason.SUPERSEDED);
        queue.offer(6, 1, LossReason.SUPERSEDED);
        reportBefore(5);
        assertEquals(List.of("4+1 SUPERSEDED"), reported);
        reportBefore(7);
        assertEquals(2, reported.size());
    }

    @Test
    void shouldTellEveryFrameOnceHoweverManyRunsWaited() {
        final SplittableRandom random = new SplittableRandom(8);
        final long[] counts = new long[LossReason.values().length];
        long next = 0;
        for (int i = 0; i < 3 * LossQueue.RUNS_MAX; i++) {
            final LossReason reason = LossReason.values()[i % 2];
            final int count = 1 + random.nextInt(9);
            queue.add(next, count, reason);
            counts[reason.ordinal()] += count;
            next += count;
        }
        assertFalse(queue.flush(), "no room");
        final long[] expected = new long[1];
        for (int round = 0; round < 2; round++) {
            queue.tell(queue.offered(), Long.MAX_VALUE, (first, count, _) -> {
                assertEquals(expected[0], first);
                expected[0] += count;
            });
            assertTrue(queue.flush());
        }
        assertEquals(next, expected[0]);
        for (final LossReason reason : LossReason.values()) {
            assertEquals(counts[reason.ordinal()], queue.total(reason));
        }
    }

    @Test
    void shouldTellInTheOrderOfTheStreamWhatIsTakenBackBeforeWhatWasGivenUpEarlier() {
        final SplittableRandom random = new SplittableRandom(9);
        final long[] next = new long[1];
        final LossHandler inOrder = (first, count, _) -> {
            assertEquals(next[0], first);
            next[0] += count;
        };
        long offered = 0;
        for (int round = 0; round < 1_000; round++) {
            // A few runs, the last first.
            final int runs = 1 + random.nextInt(6);
            for (int i = runs - 1; i >= 0; i--) {
                queue.offer(offered + 2L * i, 2, LossReason.values()[i % 3]);
                if (i > 0) {
                    queue.tellFrom(queue.offered(), next[0], inOrder);
                    assertEquals(offered, next[0], "waits for what comes before");
                }
            }
            offered += 2L * runs;
            if (random.nextBoolean()) {
                queue.tellFrom(queue.offered(), next[0], inOrder);
            } else {
                queue.tell(queue.offered(), offered, inOrder);
            }
            assertEquals(offered, next[0]);
            assertTrue(queue.isEmpty());
        }
    }

    @Test
    void shouldHaveToldWhatTheHandlerThrewAt() {
        queue.offer(4, 1, LossReason.SUPERSEDED);
        queue.offer(5, 1, LossReason.SUPERSEDED);
        assertThrows(
                IllegalStateException.class,
                () -> queue.tell(queue.offered(), 9, (_, _, _) -> {
                    throw new IllegalStateException();
                }));
        reportBefore(9);
        assertEquals(List.of("5+1 SUPERSEDED"), reported);
    }
}
