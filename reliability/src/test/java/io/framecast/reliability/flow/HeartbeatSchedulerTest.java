package io.framecast.reliability.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class HeartbeatSchedulerTest {
    private static final long MS = 1_000_000;

    private final HeartbeatScheduler heartbeats = new HeartbeatScheduler(TimeUnit.SECONDS.toNanos(5));

    @BeforeEach
    void begin() {
        heartbeats.onSent(true, 1, 0);
    }

    @Test
    void shouldFollowTheLastDatagramOfABurst() {
        heartbeats.onDataSent(MS);
        assertEquals(MS + HeartbeatScheduler.TAIL_NS, heartbeats.nextDeadlineNs());
    }

    @Test
    void shouldWaitForDataThatIsHeld() {
        heartbeats.onDataSent(MS);
        heartbeats.onDataDue(3 * MS, MS);
        assertEquals(3 * MS + HeartbeatScheduler.TAIL_NS, heartbeats.nextDeadlineNs());
    }

    @Test
    void shouldStayRegularWhileDataIsHeld() {
        heartbeats.onDataSent(MS);
        heartbeats.onDataDue(50 * MS, 9 * MS);
        assertEquals(HeartbeatScheduler.STREAMING_NS, heartbeats.nextDeadlineNs());
        heartbeats.onDataDue(50 * MS, 12 * MS);
        assertEquals(12 * MS, heartbeats.nextDeadlineNs());
    }

    @Test
    void shouldLeaveWhatIsUrgent() {
        heartbeats.onDataSent(MS);
        heartbeats.onUrgent(2 * MS);
        heartbeats.onDataDue(4 * MS, 2 * MS);
        assertEquals(2 * MS, heartbeats.nextDeadlineNs());
    }
}
