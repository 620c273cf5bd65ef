package io.framecast.reliability.send;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

final class StallWatchTest {
    private static final long SECOND_NS = 1_000_000_000;

    private final StallWatch watch = new StallWatch(5 * SECOND_NS);

    @Test
    void shouldTellOnceWhenOnlyRepairsGoOut() {
        assertEquals(0, watch.look(10, 20, 0, SECOND_NS));
        assertEquals(0, watch.look(10, 25, 7, 5 * SECOND_NS));
        assertEquals(30, watch.look(10, 25, 30, 6 * SECOND_NS));
        assertEquals(0, watch.look(10, 25, 900, 60 * SECOND_NS));
        assertEquals(0, watch.look(11, 25, 900, 61 * SECOND_NS));
        assertEquals(1, watch.look(11, 25, 901, 67 * SECOND_NS));
    }

    @Test
    void shouldSayNothingWhenASubscriberConsumesNothing() {
        // All datagrams are acknowledged, and the source sends no new ones.
        for (int second = 1; second < 100; second++) {
            assertEquals(0, watch.look(20, 20, 5, second * SECOND_NS));
        }
    }

    @Test
    void shouldSayNothingWhileTheStreamMovesOrNothingIsSentAgain() {
        for (int second = 1; second < 100; second++) {
            assertEquals(0, watch.look(second, 1_000, second * 100L, second * SECOND_NS));
        }
        for (int second = 100; second < 200; second++) {
            assertEquals(0, watch.look(99, 1_000, 9_900, second * SECOND_NS));
        }
    }
}
