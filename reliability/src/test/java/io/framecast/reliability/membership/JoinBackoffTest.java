package io.framecast.reliability.membership;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class JoinBackoffTest {
    private final JoinBackoff shunned = new JoinBackoff();

    @Test
    void shouldShunLongerEachTime() {
        long nowNs = 0;
        assertFalse(shunned.contains(7, nowNs));
        for (int times = 0; times < 10; times++) {
            shunned.add(7, nowNs);
            final long ns = JoinBackoff.SHUN_MIN_NS << Math.min(times, JoinBackoff.DOUBLINGS_MAX);
            assertTrue(shunned.contains(7, nowNs + ns - 1));
            assertFalse(shunned.contains(7, nowNs + ns));
            nowNs += ns;
        }
    }

    @Test
    void shouldForgetTheOneDueFirstWhenThereAreMore() {
        for (int session = 0; session <= JoinBackoff.SESSIONS_MAX; session++) {
            shunned.add(session, session);
        }
        assertFalse(shunned.contains(0, 100));
        assertTrue(shunned.contains(1, 100));
        assertTrue(shunned.contains(JoinBackoff.SESSIONS_MAX, 100));
    }
}
