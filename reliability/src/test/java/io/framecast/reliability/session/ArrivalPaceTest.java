package io.framecast.reliability.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

final class ArrivalPaceTest {
    private static final int FRAME = 100;
    private static final long DATAGRAM_NS = 10_000;
    private static final long FRAME_NS = FRAME * DATAGRAM_NS;
    private static final long INTERVAL_NS = 16_000_000;

    private final ArrivalPace pace = new ArrivalPace();
    private long frame;

    // A frame whose datagrams arrive one every 10 µs, looked at whenever the receiver wakes: at each datagram, unless
    // it rests. Returns how often it woke.
    private int take(final long startNs, final long lateNs) {
        final long first = frame * FRAME;
        final long end = first + FRAME;
        frame++;
        int looks = 0;
        long nowNs = startNs;
        for (long next = first; next < end; looks++) {
            next = Math.min(end, first + 1 + (nowNs - startNs) / DATAGRAM_NS);
            pace.onArrival(next, end, nowNs);
            final long restNs = pace.restNs();
            nowNs += restNs == 0 ? DATAGRAM_NS : restNs + lateNs;
        }
        assertTrue(nowNs - startNs < 2 * FRAME_NS, "the last look came " + (nowNs - startNs) + " ns after the first");
        return looks;
    }

    @Test
    void shouldTakeAFrameInFewLooksWhenFramesComeWithPauses() {
        take(INTERVAL_NS, 0);
        for (int i = 2; i < 10; i++) {
            final int looks = take(i * INTERVAL_NS, 60_000);
            assertTrue(looks <= 6, looks + " looks");
        }
    }

    @Test
    void shouldWakeForEachDatagramWhenFramesFollowEachOther() {
        long startNs = INTERVAL_NS;
        take(startNs, 0);
        for (int i = 2; i < 10; i++) {
            startNs += FRAME_NS + 20 * DATAGRAM_NS;
            assertEquals(FRAME, take(startNs, 0));
        }
    }

    @Test
    void shouldNotRestWhenTheFrameIsWholeOrOfOneDatagram() {
        take(INTERVAL_NS, 0);
        assertEquals(0, pace.restNs());
        pace.onArrival(FRAME + 1, FRAME + 1, 2 * INTERVAL_NS);
        assertEquals(0, pace.restNs());
    }

    @Test
    void shouldFollowAStreamThatGetsFaster() {
        take(INTERVAL_NS, 0);
        final long first = FRAME;
        long nowNs = 2 * INTERVAL_NS;
        // Each of these frames is whole at the second look.
        for (int i = 0; i < 8; i++) {
            pace.onArrival(first + (long) i * FRAME + 1, first + (i + 1L) * FRAME, nowNs);
            pace.onArrival(first + (i + 1L) * FRAME, first + (i + 1L) * FRAME, nowNs + 100_000);
            nowNs += INTERVAL_NS;
        }
        pace.onArrival(first + 8L * FRAME + 1, first + 9L * FRAME, nowNs);
        assertEquals(0, pace.restNs());
    }

    @Test
    void shouldNotRestLongerThanAMillisecond() {
        final int slots = 10_000;
        pace.onArrival(1, slots, INTERVAL_NS);
        pace.onArrival(11, slots, INTERVAL_NS + 1_000_000);
        assertEquals(1_000_000, pace.restNs());
    }
}
