package io.framecast.reliability.repair;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

final class RequestLimitTest {
    private final RequestLimit limit = new RequestLimit();

    private boolean takesAll() {
        boolean all = true;
        for (int i = 0; i < RequestLimit.SEQUENCES_MAX; i++) {
            all &= limit.take();
        }
        return all;
    }

    @Test
    void shouldTakeNothingBeforeARequest() {
        assertFalse(limit.take());
    }

    @Test
    void shouldTakeABoundedNumberAtATime() {
        limit.onRequest(0);
        assertTrue(takesAll());
        limit.onRequest(0);
        assertFalse(limit.take());
        assertFalse(limit.take());
        limit.onRequest(1);
        assertTrue(takesAll());
        assertFalse(limit.take());
    }
}
