package io.framecast.reliability.send;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.wire.AckLayout;
import org.junit.jupiter.api.Test;

final class FreedRequestsTest {
    private final FreedRequests requests = new FreedRequests(2);

    @Test
    void shouldBelieveAnAcknowledgementThatIsNewerThanTheRequest() {
        assertFalse(requests.onRequest(0, 10, 5));
        requests.onAcknowledged(0, 9, AckLayout.NO_ECHO, true);
        requests.onAcknowledged(0, 9, 5, true);
        assertFalse(requests.onRequest(0, 12, 20));
        requests.onAcknowledged(0, 9, 6, true);
        assertTrue(requests.onRequest(0, 14, 20));
        assertFalse(requests.onRequest(1, 14, 20), "another one");
    }

    @Test
    void shouldForgetWhenTheMemberAcknowledgesWhatWasFreed() {
        requests.onRequest(0, 10, 5);
        requests.onAcknowledged(0, 9, 6, true);
        requests.onAcknowledged(0, 10, AckLayout.NO_ECHO, true);
        assertFalse(requests.onRequest(0, 12, 20));
        requests.onAcknowledged(0, 11, 6, true);
        assertFalse(requests.onRequest(0, 12, 20), "of before that request");
    }

    /// Its group may be behind it.
    @Test
    void shouldNotJudgeACoRootByItsGroup() {
        requests.onRequest(0, 10, 5);
        requests.onAcknowledged(0, 9, 6, false);
        assertFalse(requests.onRequest(0, 10, 20));
    }

    @Test
    void shouldForgetWhenTheMembershipIsAnothers() {
        requests.onRequest(0, 10, 5);
        requests.onAcknowledged(0, 9, 6, true);
        requests.forget(0);
        assertFalse(requests.onRequest(0, 10, 20));
    }
}
