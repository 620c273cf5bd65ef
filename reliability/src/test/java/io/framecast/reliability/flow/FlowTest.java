package io.framecast.reliability.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

final class FlowTest {
    private static final long IDLE_NS = 1_000_000_000;

    private final AckScheduler acks = new AckScheduler(400, 0, IDLE_NS);

    private void acknowledged() {
        acks.onSent(1000, 0, 0);
    }

    @Test
    void shouldAcknowledgeAtOnceWhenNothingWasSentYet() {
        assertTrue(acks.isDue(0));
    }

    @Test
    void shouldAcknowledgeEveryQuarterGrantWhenDataFlows() {
        acknowledged();
        for (int i = 1; i < 100; i++) {
            acks.onReceived(1, i, false, 5);
            assertFalse(acks.isDue(5), "after " + i);
        }
        acks.onReceived(1, 100, false, 5);
        assertTrue(acks.isDue(5));
    }

    @Test
    void shouldAcknowledgeEarlierWhenSkewed() {
        final AckScheduler skewed = new AckScheduler(400, 1, IDLE_NS);
        skewed.onSent(1000, 0, 0);
        for (int i = 1; i <= 88; i++) {
            skewed.onReceived(1, i, false, 5);
        }
        assertTrue(skewed.isDue(5));
    }

    @Test
    void shouldAcknowledgeWhenHalfTheGrantIsUsed() {
        acks.onSent(20, 10, 0);
        acks.onReceived(1, 14, false, 7);
        assertFalse(acks.isDue(7));
        acks.onReceived(1, 15, false, 7);
        assertTrue(acks.isDue(7));
    }

    @Test
    void shouldAcknowledgeSoonerWhenAFrameEnds() {
        acknowledged();
        acks.onReceived(1, 1, false, 0);
        assertEquals(AckScheduler.DELAY_MAX_NS, acks.nextDeadlineNs());
        acks.onReceived(1, 2, true, 0);
        assertEquals(AckScheduler.FRAME_DELAY_NS, acks.nextDeadlineNs());
    }

    @Test
    void shouldAnswerAtOnceWhenAskedButNotToADuplicate() {
        acknowledged();
        acks.onDuplicate(10);
        assertEquals(10 + AckScheduler.DELAY_MAX_NS, acks.nextDeadlineNs());
        acks.onRequest(20);
        assertEquals(20, acks.nextDeadlineNs());
    }

    @Test
    void shouldTellAtOnceWhenASourceWaitsForCredit() {
        acks.onSent(50, 50, 0);
        acks.onGrant(51, 50, 9);
        assertTrue(acks.isDue(9));
    }

    @Test
    void shouldWaitWhenLittleCreditIsFreedAndNobodyWaits() {
        acknowledged();
        acks.onGrant(1001, 10, 9);
        assertEquals(9 + AckScheduler.DELAY_MAX_NS, acks.nextDeadlineNs());
        acks.onGrant(1200, 10, 9);
        assertTrue(acks.isDue(9));
    }

    @Test
    void shouldShowThatItLivesWhenNothingHappens() {
        acknowledged();
        assertEquals(IDLE_NS, acks.nextDeadlineNs());
        assertTrue(acks.isDue(IDLE_NS));
    }

    // RFC 6298 (2.2), (2.3), by hand.
    @Test
    void shouldSmoothAsTheRfcSaysWhenSamplesCome() {
        final RttEstimator rtt = new RttEstimator();
        assertEquals(RttEstimator.INITIAL_NS, rtt.smoothedNs());
        rtt.onSample(8_000);
        assertEquals(8_000, rtt.smoothedNs());
        assertEquals(8_000 + 4 * 4_000, rtt.timeoutNs());
        rtt.onSample(16_000);
        assertEquals(9_000, rtt.smoothedNs());
        assertEquals(9_000 + 4 * 5_000, rtt.timeoutNs());
    }

    @Test
    void shouldIgnoreWhenSamplesAreImpossible() {
        final RttEstimator rtt = new RttEstimator();
        rtt.onSample(-1);
        rtt.onSample(Long.MAX_VALUE);
        assertEquals(RttEstimator.INITIAL_NS, rtt.smoothedNs());
        rtt.onSample(0);
        assertEquals(1, rtt.smoothedNs());
        rtt.reset();
        assertEquals(RttEstimator.INITIAL_NS, rtt.smoothedNs());
    }

    @Test
    void shouldBeatSoonAfterABurstAndThenMoreRarely() {
        final HeartbeatScheduler heartbeats = new HeartbeatScheduler(5_000_000_000L);
        assertEquals(0, heartbeats.nextDeadlineNs());
        heartbeats.onSent(false, 1, 0);
        final long base = 1_000_000_000;
        heartbeats.onSent(false, 1, base);
        heartbeats.onDataSent(base + 10);
        assertEquals(base + 10 + HeartbeatScheduler.TAIL_NS, heartbeats.nextDeadlineNs());
        long now = heartbeats.nextDeadlineNs();
        long interval = HeartbeatScheduler.WAITING_MAX_NS;
        while (interval < HeartbeatScheduler.IDLE_MAX_NS) {
            heartbeats.onSent(false, 1, now);
            assertEquals(now + interval, heartbeats.nextDeadlineNs());
            now += interval;
            interval *= 2;
        }
        heartbeats.onSent(false, 1, now);
        assertEquals(now + HeartbeatScheduler.IDLE_MAX_NS, heartbeats.nextDeadlineNs());
        // The first member waits for a heartbeat.
        heartbeats.onSent(false, 0, now);
        heartbeats.onSent(false, 0, now);
        assertEquals(now + HeartbeatScheduler.ALONE_MAX_NS, heartbeats.nextDeadlineNs());
    }

    @Test
    void shouldBeatRegularlyWhenDataNeverStops() {
        final HeartbeatScheduler heartbeats = new HeartbeatScheduler(5_000_000_000L);
        heartbeats.onSent(false, 1, 0);
        long last = 0;
        for (long now = 0; now < 100_000_000; now += 100_000) {
            heartbeats.onDataSent(now);
            if (heartbeats.nextDeadlineNs() <= now) {
                assertTrue(now - last <= HeartbeatScheduler.STREAMING_NS + 100_000);
                last = now;
                heartbeats.onSent(true, 1, now);
            }
        }
        assertTrue(last > 80_000_000);
    }

    @Test
    void shouldBeatOftenWhenAnAnswerIsAwaited() {
        final HeartbeatScheduler heartbeats = new HeartbeatScheduler(5_000_000_000L);
        long now = 0;
        for (int i = 0; i < 20; i++) {
            heartbeats.onSent(true, 1, now);
            now = heartbeats.nextDeadlineNs();
        }
        heartbeats.onSent(true, 1, now);
        assertEquals(now + HeartbeatScheduler.WAITING_MAX_NS, heartbeats.nextDeadlineNs());
        heartbeats.onUrgent(now + 5);
        assertEquals(now + 5, heartbeats.nextDeadlineNs());
    }
}
