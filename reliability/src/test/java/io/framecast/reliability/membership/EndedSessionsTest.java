package io.framecast.reliability.membership;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class EndedSessionsTest {
    private final EndedSessions past = new EndedSessions();

    @Test
    void shouldLeaveSessionAloneForEverWhenItEnded() {
        assertFalse(past.isOver(5, 0));
        past.onEnded(5);
        assertTrue(past.isOver(5, 0));
        assertTrue(past.isOver(5, Long.MAX_VALUE));
        assertFalse(past.isOver(6, 0));
    }

    @Test
    void shouldTakeSessionThatWasLostUntilItsTimeIsOver() {
        past.onLost(5, 100, 17);
        assertTrue(past.contains(5));
        assertFalse(past.isOver(5, 99));
        assertTrue(past.isOver(5, 100));
        past.onLost(5, 300, 21);
        assertFalse(past.isOver(5, 100));
        past.onEnded(5);
        assertTrue(past.isOver(5, 100));
    }

    @Test
    void shouldForgetTheOldestWhenThereAreTooMany() {
        for (int i = 0; i <= EndedSessions.SESSIONS_MAX; i++) {
            past.onEnded(i);
        }
        assertFalse(past.contains(0));
        for (int i = 1; i <= EndedSessions.SESSIONS_MAX; i++) {
            assertTrue(past.isOver(i, 0));
        }
    }
}
