package io.framecast.reliability.send;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

final class FreedRequestsTest {
    private static final long ALIVE_NS = 1_000;
    private static final long PATIENCE_NS = ALIVE_NS / 4;

    private final FreedRequests requests = new FreedRequests(2, ALIVE_NS);

    @Test
    void shouldBelieveAMemberThatGoesOnAsking() {
        assertFalse(requests.onRequest(0, 10, 5));
        assertFalse(requests.onRequest(0, 12, 5 + PATIENCE_NS - 1));
        assertTrue(requests.onRequest(0, 14, 5 + PATIENCE_NS));
        assertFalse(requests.onRequest(1, 14, 5 + PATIENCE_NS), "another one");
    }

    @Test
    void shouldForgetWhenTheMemberAcknowledgesWhatWasFreed() {
        requests.onRequest(0, 10, 0);
        requests.onAcknowledged(0, 9);
        assertTrue(requests.onRequest(0, 12, PATIENCE_NS));
        requests.onAcknowledged(0, 10);
        assertFalse(requests.onRequest(0, 12, 2 * PATIENCE_NS));
    }

    @Test
    void shouldForgetWhenTheMembershipIsAnothers() {
        requests.onRequest(0, 10, 0);
        requests.forget(0);
        assertFalse(requests.onRequest(0, 10, PATIENCE_NS));
    }
}
